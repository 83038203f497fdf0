"""Sparse mixture of experts with a load-balancing loss that keeps the router from using one expert only."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class MoEConfig:
    features: int = 8
    dim: int = 16
    experts: int = 4
    classes: int = 6
    balance_weight: float = 0.05
    lr: float = 5e-3
    epochs: int = 8


class SparseMoE(nn.Module):
    """Sends every example to its best expert. Returns the output and the weighted balance loss."""

    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.router = nn.Linear(cfg.dim, cfg.experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(cfg.dim, cfg.dim), nn.ReLU(), nn.Linear(cfg.dim, cfg.dim)) for _ in range(cfg.experts)
        )
        self.load = None

    def forward(self, x):
        probs = F.softmax(self.router(x), dim=1)
        gate, chosen = probs.max(dim=1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = (chosen == i).nonzero().squeeze(1)
            if len(rows):
                out = out.index_add(0, rows, gate[rows, None] * expert(x[rows]))
        self.load = F.one_hot(chosen, self.cfg.experts).float().mean(dim=0)
        balance = self.cfg.experts * (self.load * probs.mean(dim=0)).sum()
        return x + out, self.cfg.balance_weight * balance


class Model(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.stem = nn.Linear(cfg.features, cfg.dim)
        self.moe = SparseMoE(cfg)
        self.head = nn.Linear(cfg.dim, cfg.classes)

    def forward(self, x):
        h, balance = self.moe(torch.relu(self.stem(x)))
        return self.head(h), balance


def clusters(cfg, count):
    centers = 2 * torch.randn(cfg.classes, 2, cfg.features)
    labels = torch.randint(0, cfg.classes, (count,))
    side = torch.randint(0, 2, (count,))
    return centers[labels, side] + 0.8 * torch.randn(count, cfg.features), labels


def train(cfg):
    x, y = clusters(cfg, 480)
    model = Model(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        task_sum = balance_sum = 0.0
        for index in torch.randperm(400).split(50):
            logits, balance = model(x[index])
            loss = F.cross_entropy(logits, y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            task_sum += loss.item() / 8
            balance_sum += balance.item() / 8
        with torch.no_grad():
            accuracy = (model(x[400:])[0].argmax(1) == y[400:]).float().mean().item()
        load = [round(v, 2) for v in model.moe.load.tolist()]
        print(f"epoch {epoch}: task {task_sum:.4f} balance {balance_sum:.4f} accuracy {accuracy:.3f} load {load}")


if __name__ == "__main__":
    torch.manual_seed(47)
    train(MoEConfig())
