"""Gradient accumulation: the loss of several micro-batches is summed and one update is made for the sum."""
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    micro_batch: int = 8
    accumulate: int = 4
    lr: float = 0.05
    epochs: int = 5
    seed: int = 8


class Trainer:
    def __init__(self, model, config):
        self.model = model
        self.config = config
        self.optimizer = torch.optim.SGD(model.parameters(), lr=config.lr, momentum=0.9)
        self.criterion = nn.CrossEntropyLoss()
        self.group_loss = 0.0
        self.updates = 0

    def micro_step(self, x, y):
        loss = self.criterion(self.model(x), y) / self.config.accumulate
        self.group_loss = self.group_loss + loss
        return loss.item() * self.config.accumulate

    def update(self):
        """One optimizer step for the micro-batches collected since the last one."""
        self.optimizer.zero_grad()
        self.group_loss.backward()
        self.optimizer.step()
        self.updates += 1

    def fit(self, x, y):
        for epoch in range(self.config.epochs):
            order = torch.randperm(len(x))
            losses = []
            for k, rows in enumerate(order.split(self.config.micro_batch), 1):
                losses.append(self.micro_step(x[rows], y[rows]))
                if k % self.config.accumulate == 0:
                    self.update()
            print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f} after {self.updates} updates")


def blobs(n, classes=4, d=10):
    centers = 1.5 * torch.randn(classes, d)
    y = torch.arange(n) % classes
    return centers[y] + torch.randn(n, d), y


def main():
    config = Config()
    torch.manual_seed(config.seed)
    x, y = blobs(256)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
    Trainer(model, config).fit(x, y)


if __name__ == "__main__":
    main()
