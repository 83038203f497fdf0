"""Regress delivery time from order features.

A small Trainer that reports the average loss since the start of the run every
``report_every`` steps.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    features: int = 12
    width: int = 64
    batch_size: int = 32
    steps: int = 120
    report_every: int = 20
    lr: float = 3e-3
    seed: int = 88


class OrderStream:
    """Endless stream of simulated orders."""

    def __init__(self, config):
        self.config = config
        self.weight = torch.randn(config.features)

    def __iter__(self):
        while True:
            x = torch.randn(self.config.batch_size, self.config.features)
            minutes = 30 + 6 * torch.relu(x @ self.weight) + torch.randn(len(x))
            yield x, (minutes - 30) / 10


class Trainer:
    def __init__(self, config):
        torch.manual_seed(config.seed)
        self.config = config
        self.data = iter(OrderStream(config))
        self.model = nn.Sequential(
            nn.Linear(config.features, config.width), nn.ReLU(),
            nn.Linear(config.width, config.width), nn.ReLU(),
            nn.Linear(config.width, 1),
        )
        self.criterion = nn.SmoothL1Loss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config.lr)
        self.running_loss = 0.0
        self.step = 0

    def train_step(self):
        x, y = next(self.data)
        loss = self.criterion(self.model(x).squeeze(-1), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.running_loss += loss.item()
        self.step += 1

    def report(self):
        print(f"step {self.step:4d}  average loss {self.running_loss / self.step:.4f}")

    def fit(self):
        while self.step < self.config.steps:
            self.train_step()
            if self.step % self.config.report_every == 0:
                self.report()


if __name__ == "__main__":
    Trainer(Config()).fit()
