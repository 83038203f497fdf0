"""Contrastive pre-training with a queue of negatives from earlier batches."""
import argparse
from collections import deque

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Queue:
    def __init__(self, max_batches):
        self.items = deque(maxlen=max_batches)

    def push(self, keys):
        self.items.append(keys)

    def negatives(self):
        return torch.cat(list(self.items)) if self.items else None


class Encoder(nn.Module):
    def __init__(self, d_in=8, width=16, d_out=6):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.proj = nn.Linear(width, d_out)

    def forward(self, x):
        return F.normalize(self.proj(self.body(x)), dim=1)


def augment(x):
    return x + 0.1 * torch.randn_like(x)


def info_nce(q, k, negatives, tau):
    pool = k if negatives is None else torch.cat([k, negatives])
    return F.cross_entropy(q @ pool.t() / tau, torch.arange(len(q)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--tau", type=float, default=0.2)
    p.add_argument("--queue", type=int, default=3)
    args = p.parse_args()
    torch.manual_seed(8)
    data = torch.randn(40, 8)
    loader = DataLoader(TensorDataset(data), batch_size=8, shuffle=True)
    encoder, queue = Encoder(), Queue(args.queue)
    opt = torch.optim.AdamW(encoder.parameters(), lr=5e-3, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(args.epochs):
        total = 0.0
        for (x,) in loader:
            q, k = encoder(augment(x)), encoder(augment(x))
            loss = info_nce(q, k, queue.negatives(), args.tau)
            queue.push(k.detach())
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        print(f"epoch {epoch}: loss {total / len(loader):.4f}, queue {len(queue.negatives())}")


if __name__ == "__main__":
    main()
