"""Contrastive pretraining on product images' features with a momentum encoder and a queue of negatives."""
import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, inputs, dim):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 48), nn.ReLU(), nn.Linear(48, dim))

    def forward(self, x):
        return F.normalize(self.body(x), dim=-1)


class QueueContrast(nn.Module):
    def __init__(self, inputs, dim=16, size=96, momentum=0.95, temperature=0.2):
        super().__init__()
        self.query = Encoder(inputs, dim)
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.momentum = momentum
        self.temperature = temperature
        self.register_buffer("queue", F.normalize(torch.randn(size, dim), dim=-1))
        self.head = 0

    @torch.no_grad()
    def follow(self):
        for k, q in zip(self.key.parameters(), self.query.parameters()):
            k.mul_(self.momentum).add_(q, alpha=1 - self.momentum)

    @torch.no_grad()
    def push(self, keys):
        n = len(keys)
        self.queue[self.head:self.head + n] = keys
        self.head = (self.head + n) % len(self.queue)

    def forward(self, a, b):
        q = self.query(a)
        with torch.no_grad():
            self.follow()
            k = self.key(b)
        positive = (q * k).sum(dim=1, keepdim=True)
        negative = q @ self.queue.clone().T
        logits = torch.cat([positive, negative], dim=1) / self.temperature
        self.push(k)
        return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long))


def catalogue(n, inputs, seed):
    gen = torch.Generator().manual_seed(seed)
    centres = torch.randn(12, inputs, generator=gen)
    return centres[torch.randint(0, 12, (n,), generator=gen)] + 0.5 * torch.randn(n, inputs, generator=gen)


def view(x):
    keep = (torch.rand_like(x) > 0.2).float()
    return x * keep + 0.1 * torch.randn_like(x)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--micro", type=int, default=16)
    ap.add_argument("--accum", type=int, default=3)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()

    torch.manual_seed(29)
    data = catalogue(384, 20, seed=12)
    model = QueueContrast(20)
    optimizer = torch.optim.Adam(model.query.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 4))

    for epoch in range(args.epochs):
        running, last = 0.0, len(data) // args.micro - 1
        for i, idx in enumerate(torch.randperm(len(data)).split(args.micro)):
            loss = model(view(data[idx]), view(data[idx]))
            (loss / args.accum).backward()
            running += loss.item()
            if (i + 1) % args.accum == 0 or i == last:
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
        print(f"epoch {epoch}: loss {running / (last + 1):.4f} lr {schedule.get_last_lr()[0]:.4f}")


if __name__ == "__main__":
    main()
