"""Momentum contrast on signal snippets: query encoder, slowly following key encoder, queue of negatives."""
import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def snippets(n=256, length=32):
    g = torch.Generator().manual_seed(6)
    t = torch.arange(length).float()
    freq = 0.2 + 0.8 * torch.rand(n, 3, 1, generator=g)
    phase = 6.28 * torch.rand(n, 3, 1, generator=g)
    return torch.sin(freq * t + phase).sum(1)


def augment(x):
    scale = 0.8 + 0.4 * torch.rand(len(x), 1)
    shift = int(torch.randint(-2, 3, (1,)))
    return scale * x.roll(shift, dims=1) + 0.1 * torch.randn_like(x)


def make_encoder(length=32, dim=16):
    return nn.Sequential(nn.Linear(length, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, dim))


class MomentumContrast(nn.Module):
    def __init__(self, queue_size=64, dim=16, momentum=0.9, temperature=0.2):
        super().__init__()
        self.momentum, self.temperature = momentum, temperature
        self.query = make_encoder(dim=dim)
        self.key = copy.deepcopy(self.query)
        for p in self.key.parameters():
            p.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(queue_size, dim), dim=1))
        self.cursor = 0

    @torch.no_grad()
    def follow(self):
        for slow, fast in zip(self.key.parameters(), self.query.parameters()):
            slow.mul_(self.momentum).add_(fast, alpha=1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        n = len(keys)
        self.queue[self.cursor:self.cursor + n] = keys
        self.cursor = (self.cursor + n) % len(self.queue)

    def forward(self, view_a, view_b):
        q = F.normalize(self.query(view_a), dim=1)
        with torch.no_grad():
            self.follow()
            k = F.normalize(self.key(view_b), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().t()
        logits = torch.cat([positive, negative], dim=1) / self.temperature
        self.enqueue(k)
        return logits, torch.zeros(len(q), dtype=torch.long)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    torch.manual_seed(0)
    data = snippets()
    model = MomentumContrast()
    optimizer = torch.optim.Adam(model.query.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        losses, hits = [], 0
        for idx in torch.randperm(len(data)).split(args.batch_size):
            logits, target = model(augment(data[idx]), augment(data[idx]))
            loss = F.cross_entropy(logits, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            hits += (logits.argmax(1) == 0).sum().item()
        print(f"epoch {epoch}: contrast {sum(losses) / len(losses):.4f}  hit rate {hits / len(data):.3f}")


if __name__ == "__main__":
    main()
