"""Train an equilibrium classifier on toy data."""
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

import tasks
from deq import Cell, Equilibrium


class Classifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lift = nn.Linear(2, width)
        self.equilibrium = Equilibrium(Cell(width, width), width, max_iter=20, tol=1e-4)
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        return self.head(self.equilibrium(torch.relu(self.lift(x))))


class Runner:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        self.data = tasks.build(cfg.task)
        self.model = Classifier(cfg.width)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def train_epoch(self):
        total = 0.0
        for x, y in self.data.loader(self.cfg.batch):
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(y)
        return total / len(self.data)

    @torch.no_grad()
    def accuracy(self):
        return (self.model(self.data.x).argmax(1) == self.data.y).float().mean().item()

    def run(self):
        for epoch in range(self.cfg.epochs):
            mean = self.train_epoch()
            eq = self.model.equilibrium
            print(f"epoch {epoch} loss {mean:.4f} acc {self.accuracy():.3f} "
                  f"solver {len(eq.forward_res)}/{len(eq.backward_res)}")


if __name__ == "__main__":
    Runner(SimpleNamespace(task="spirals", width=16, lr=5e-3, batch=32, epochs=8, seed=53)).run()
