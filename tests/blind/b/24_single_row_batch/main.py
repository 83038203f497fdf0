"""Tabular classifier with batch norm; data from a csv file, best weights are kept."""
import copy
import csv
import os
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Args:
    data: str = os.path.join("..", "data", "signal.csv")
    epochs: int = 3
    batch_size: int = 12
    lr: float = 1e-2
    clip: float = 2.0
    seed: int = 24


def load(path):
    with open(path, newline="") as handle:
        rows = [[float(v) for v in row] for row in list(csv.reader(handle))[1:]]
    table = torch.tensor(rows)
    return TensorDataset(table[:, :-1], table[:, -1].long())


class TabularNet(nn.Module):
    def __init__(self, inputs, classes=2):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(inputs, 16), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Linear(16, 8), nn.BatchNorm1d(8), nn.ReLU(),
            nn.Linear(8, classes),
        )

    def forward(self, x):
        return self.net(x)


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)


class Learner:
    def __init__(self, args, dataset):
        self.args = args
        self.loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True)
        self.model = TabularNet(dataset.tensors[0].shape[1])
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.best, self.best_state = float("inf"), None

    def train_epoch(self):
        self.model.train()
        meter = AverageMeter()
        for x, y in self.loader:
            self.optimizer.zero_grad()
            if len(x) > 1:  # batch norm cannot work on one row
                loss = self.criterion(self.model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.args.clip)
            self.optimizer.step()
            meter.update(loss.item(), len(x))
        return meter.avg

    def fit(self):
        for epoch in range(self.args.epochs):
            loss = self.train_epoch()
            if loss < self.best:
                self.best = loss
                self.best_state = copy.deepcopy(self.model.state_dict())
            print(f"epoch {epoch}: loss {loss:.4f} best {self.best:.4f}")
        torch.save(self.best_state, "best.pt")


def main():
    args = Args()
    torch.manual_seed(args.seed)
    Learner(args, load(args.data)).fit()


if __name__ == "__main__":
    main()
