"""A fault classifier that moves from plant to plant and should not forget the earlier ones."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

from regularizers import ElasticPenalty


def make_plant(seed, n=192, dim=10, classes=3):
    base = torch.Generator().manual_seed(1000)
    centres = 1.5 * torch.randn(classes, dim, generator=base)
    gen = torch.Generator().manual_seed(seed)
    rotate, _ = torch.linalg.qr(torch.randn(dim, dim, generator=gen))
    labels = torch.randint(0, classes, (n,), generator=gen)
    x = (centres[labels] + torch.randn(n, dim, generator=gen)) @ rotate
    return x, labels


def build_model(dim=10, hidden=40, classes=3):
    return nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, classes))


@torch.no_grad()
def accuracy(model, data):
    x, y = data
    return (model(x).argmax(1) == y).float().mean().item()


def train_plant(model, optimizer, penalty, data, epochs, batch_size):
    x, y = data
    for epoch in range(epochs):
        fit_sum, pen_sum, steps = 0.0, 0.0, 0
        for idx in torch.randperm(len(x)).split(batch_size):
            fit = F.cross_entropy(model(x[idx]), y[idx])
            drift = penalty()
            loss = fit + drift
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            fit_sum += fit.item()
            pen_sum += drift.item()
            steps += 1
        print(f"  epoch {epoch}: fit {fit_sum / steps:.4f} drift {pen_sum / steps:.4f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--plants", type=int, default=3)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--strength", type=float, default=40.0)
    ap.add_argument("--lr", type=float, default=0.1)
    args = ap.parse_args()

    torch.manual_seed(17)
    plants = [make_plant(seed=50 + k) for k in range(args.plants)]
    model = build_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    penalty = ElasticPenalty(model, args.strength)
    for k, data in enumerate(plants):
        print(f"plant {k}")
        train_plant(model, optimizer, penalty, data, args.epochs, batch_size=32)
        penalty.consolidate(*data)
        scores = " ".join(f"{accuracy(model, d):.2f}" for d in plants[:k + 1])
        print(f"  accuracy so far: {scores}")


if __name__ == "__main__":
    main()
