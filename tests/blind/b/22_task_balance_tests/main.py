"""Depth and segmentation from one encoder with balanced losses."""
import torch
from torch import nn
from torch.nn import functional as F

from balance import GradientBalancer


class MultiTask(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.depth = nn.Linear(width, 1)
        self.segment = nn.Linear(width, 3)

    def forward(self, x):
        h = self.encoder(x)
        return {"depth": self.depth(h), "segment": self.segment(h)}


def make_data(batches=6, seed=0):
    gen = torch.Generator().manual_seed(seed)
    data = []
    for _ in range(batches):
        x = torch.randn(10, 6, generator=gen)
        data.append((x, {"depth": 5 * x[:, :1].abs(), "segment": (x[:, 1] > 0).long() + (x[:, 2] > 0).long()}))
    return data


def task_losses(outputs, targets):
    return {
        "depth": F.l1_loss(outputs["depth"], targets["depth"]),
        "segment": F.cross_entropy(outputs["segment"], targets["segment"]),
    }


class MultiTaskTrainer:
    def __init__(self, model, lr=1e-2, balance_every=1):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 6, gamma=0.7)
        self.balancer = GradientBalancer(model.encoder.parameters(), ("depth", "segment"))
        self.balance_every = balance_every
        self.step_count = 0

    def step(self, x, targets):
        losses = task_losses(self.model(x), targets)
        if self.step_count % self.balance_every == 0:
            self.balancer.update(losses)
        total = self.balancer.total(losses)
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()
        self.scheduler.step()
        self.step_count += 1
        return {name: loss.item() for name, loss in losses.items()}

    def fit(self, data, epochs):
        history = []
        for _ in range(epochs):
            rows = [self.step(x, targets) for x, targets in data]
            history.append({name: sum(r[name] for r in rows) / len(rows) for name in rows[0]})
        return history


def main():
    torch.manual_seed(22)
    history = MultiTaskTrainer(MultiTask()).fit(make_data(), epochs=3)
    for epoch, row in enumerate(history):
        print(epoch, {name: round(value, 4) for name, value in row.items()})


if __name__ == "__main__":
    main()
