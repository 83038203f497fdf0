"""Metric learning: Mahalanobis distance with a learned Cholesky factor."""
import csv
import logging
import sys

import torch
from torch import nn

logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s", level=logging.INFO)


class Mahalanobis(nn.Module):
    def __init__(self, d, classes):
        super().__init__()
        self.raw = nn.Parameter(torch.zeros(d, d))
        self.centres = nn.Parameter(0.1 * torch.randn(classes, d))

    @property
    def factor(self):
        diag = torch.diag(nn.functional.softplus(self.raw.diagonal()))
        return torch.tril(self.raw, -1) + diag

    @property
    def precision(self):
        return self.factor @ self.factor.t()

    def forward(self, x):
        diff = x[:, None] - self.centres[None]
        dist = torch.einsum("bci,ij,bcj->bc", diff, self.precision, diff)
        return -dist


def load(path):
    with open(path) as f:
        rows = list(csv.DictReader(f))
    names = sorted({r["label"] for r in rows})
    x = torch.tensor([[float(r[k]) for k in ("a", "b", "c")] for r in rows])
    y = torch.tensor([names.index(r["label"]) for r in rows])
    return x, y, names


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(16)
    x, y, names = load("../data/shells.csv")
    x = (x - x.mean(0)) / x.std(0)
    model = Mahalanobis(x.size(1), len(names))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
    for epoch in range(6):
        order = torch.randperm(len(x))
        losses = []
        for idx in order.split(10):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        logging.info("epoch %d loss %.4f acc %.3f", epoch, sum(losses) / len(losses), accuracy(model, x, y))


if __name__ == "__main__":
    main()
