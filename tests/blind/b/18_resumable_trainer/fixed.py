"""Resumable trainer: the loss is kept close to its own moving average."""
import csv
import os
from dataclasses import asdict, dataclass

import torch
from torch import nn


@dataclass
class Config:
    epochs: int = 4
    batch: int = 8
    lr: float = 0.02
    stability: float = 0.1
    decay: float = 0.9
    out: str = "runs/current"


class Checkpointer:
    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, "last.pt")

    def save(self, **state):
        torch.save(state, self.path)

    def load(self):
        if os.path.exists(self.path):
            return torch.load(self.path, weights_only=False)
        return None


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=cfg.lr, momentum=0.9)
        self.average = None
        self.epoch = 0
        self.checkpoints = Checkpointer(cfg.out)
        state = self.checkpoints.load()
        if state is not None:
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.epoch = state["epoch"]
            print(f"resumed at epoch {self.epoch}")

    def objective(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        if self.average is None:
            self.average = loss.detach()
        jump = loss - self.average
        self.average = self.cfg.decay * self.average + (1 - self.cfg.decay) * loss.detach()
        return loss + self.cfg.stability * jump.pow(2), loss

    def run_epoch(self, data):
        total = 0.0
        for x, y in data:
            objective, loss = self.objective(x, y)
            self.optimizer.zero_grad()
            objective.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(data)

    def fit(self, data):
        while self.epoch < self.cfg.epochs:
            mean = self.run_epoch(data)
            self.epoch += 1
            self.checkpoints.save(
                model=self.model.state_dict(),
                optimizer=self.optimizer.state_dict(),
                epoch=self.epoch,
                config=asdict(self.cfg),
            )
            with open("runs/metrics.csv", "a", newline="") as handle:
                csv.writer(handle).writerow([self.epoch, f"{mean:.6f}"])
            print(f"epoch {self.epoch}: loss {mean:.4f}")


def make_data(cfg, batches=6):
    data = []
    for _ in range(batches):
        x = torch.randn(cfg.batch, 4)
        data.append((x, (x[:, :1] * x[:, 1:2]).sin()))
    return data


def main():
    torch.manual_seed(18)
    cfg = Config()
    data = make_data(cfg)
    Trainer(cfg).fit(data)


if __name__ == "__main__":
    main()
