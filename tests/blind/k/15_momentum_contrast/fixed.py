"""Momentum contrast (MoCo) on synthetic sensor windows.

The query encoder is trained to pick its own key among the keys of earlier
batches, which wait in a first-in first-out queue.  Keys come from the momentum
encoder and are constants for the loss.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


def make_encoder(dim_in, dim_out):
    return nn.Sequential(nn.Linear(dim_in, 32), nn.ReLU(), nn.Linear(32, dim_out))


class MoCo(nn.Module):
    def __init__(self, dim_in=16, dim=8, queue_size=48, momentum=0.95, temperature=0.2):
        super().__init__()
        self.m = momentum
        self.T = temperature
        self.queue_size = queue_size
        self.encoder_q = make_encoder(dim_in, dim)
        self.encoder_k = make_encoder(dim_in, dim)
        self.encoder_k.load_state_dict(self.encoder_q.state_dict())
        for p in self.encoder_k.parameters():
            p.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, queue_size), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def momentum_update(self):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.mul_(self.m).add_(q, alpha=1 - self.m)

    @torch.no_grad()
    def dequeue_and_enqueue(self, keys):
        n = keys.size(0)
        ptr = int(self.queue_ptr)
        assert self.queue_size % n == 0
        self.queue[:, ptr:ptr + n] = keys.t()
        self.queue_ptr[0] = (ptr + n) % self.queue_size

    def forward(self, view_q, view_k):
        q = F.normalize(self.encoder_q(view_q), dim=1)
        with torch.no_grad():
            self.momentum_update()
            k = F.normalize(self.encoder_k(view_k), dim=1)
        positive = (q * k).sum(dim=1, keepdim=True)
        negative = q @ self.queue.clone()
        logits = torch.cat([positive, negative], dim=1) / self.T
        self.dequeue_and_enqueue(k)
        target = torch.zeros(len(q), dtype=torch.long)
        return logits, target


class Windows:
    """Windows of a machine in one of many states, seen by noisy sensors."""

    def __init__(self, dim=16):
        self.modes = torch.randn(200, dim)

    def two_views(self, n=12):
        base = self.modes[torch.randint(0, 200, (n,))] + 0.3 * torch.randn(n, self.modes.size(1))
        return self.augment(base), self.augment(base)

    @staticmethod
    def augment(x):
        dropout = (torch.rand_like(x) > 0.15).float()
        return x * dropout + 0.1 * torch.randn_like(x)


def accuracy(logits, target):
    return (logits.argmax(dim=1) == target).float().mean().item()


def main():
    torch.manual_seed(6)
    data = Windows()
    model = MoCo()
    optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    for step in range(36):
        logits, target = model(*data.two_views())
        loss = F.cross_entropy(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 9 == 0:
            print(f"step {step:2d} loss {loss.item():.4f} acc {accuracy(logits, target):.3f}")


if __name__ == "__main__":
    main()
