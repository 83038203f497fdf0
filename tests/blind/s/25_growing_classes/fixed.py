"""Class-incremental gesture recognition: every session brings new gestures and a wider head."""
import argparse
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


class Gestures:
    """Feature vectors of hand-landmark clips, a cluster per gesture."""

    def __init__(self, classes, dim, per_class, seed):
        g = torch.Generator().manual_seed(seed)
        centers = torch.randn(classes, dim, generator=g) * 1.5
        self.x = centers[:, None] + torch.randn(classes, per_class, dim, generator=g)
        self.per_class = per_class

    def session(self, first, last):
        x = self.x[first:last].flatten(0, 1)
        y = torch.arange(first, last).repeat_interleave(self.per_class)
        order = torch.randperm(len(x))
        return x[order], y[order]


class GrowingNet(nn.Module):
    def __init__(self, dim, hidden, classes):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, classes)

    def grow(self, extra):
        old = self.head
        wider = nn.Linear(old.in_features, old.out_features + extra)
        with torch.no_grad():
            wider.weight[: old.out_features] = old.weight
            wider.bias[: old.out_features] = old.bias
        self.head = wider

    def forward(self, x):
        return self.head(self.trunk(x))


class Rehearsal:
    def __init__(self, size):
        self.items = deque(maxlen=size)

    def remember(self, x, y, count):
        self.items.extend(zip(x[:count], y[:count]))

    def mix(self, x, y):
        if not self.items:
            return x, y
        xs, ys = zip(*self.items)
        return torch.cat([x, torch.stack(xs)]), torch.cat([y, torch.stack(ys)])


def fit(model, optimizer, x, y, epochs, batch):
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(batch):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--sessions", type=int, default=3)
    ap.add_argument("--per-session", type=int, default=3)
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--lr", type=float, default=0.1)
    args = ap.parse_args()

    torch.manual_seed(13)
    data = Gestures(args.sessions * args.per_session, dim=10, per_class=30, seed=13)
    model = GrowingNet(10, 32, args.per_session)
    memory = Rehearsal(60)
    for s in range(args.sessions):
        if s > 0:
            model.grow(args.per_session)
        optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
        x, y = data.session(s * args.per_session, (s + 1) * args.per_session)
        mixed = memory.mix(x, y)
        loss = fit(model, optimizer, *mixed, args.epochs, batch=40)
        memory.remember(x, y, 30)
        print(f"session {s}  loss {loss:.4f}  new classes {accuracy(model, x, y):.3f}  "
              f"all seen {accuracy(model, *mixed):.3f}")


if __name__ == "__main__":
    main()
