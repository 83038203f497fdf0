"""Greenhouse climate: three targets from one trunk, task weights balanced by the gradient norms (GradNorm)."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Settings:
    n: int = 320
    inputs: int = 10
    width: int = 32
    batch: int = 40
    epochs: int = 3
    lr: float = 4e-3
    weight_lr: float = 2e-2
    alpha: float = 1.0
    seed: int = 21


class MultiTaskNet(nn.Module):
    def __init__(self, inputs, width, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width))
        self.heads = nn.ModuleDict({t: nn.Linear(width, 1) for t in tasks})

    @property
    def last_shared(self):
        return self.trunk[-1].weight

    def forward(self, x):
        h = torch.tanh(self.trunk(x))
        return {t: head(h).squeeze(-1) for t, head in self.heads.items()}


class GradNormBalancer:
    """Learns one weight per task so that all tasks train the trunk at similar rates."""

    def __init__(self, tasks, alpha, lr):
        self.tasks = list(tasks)
        self.alpha = alpha
        self.weights = nn.Parameter(torch.ones(len(self.tasks)))
        self.optimizer = torch.optim.Adam([self.weights], lr=lr)
        self.initial = None

    def total(self, losses):
        return (self.weights * losses).sum()

    def update(self, losses, shared):
        if self.initial is None:
            self.initial = losses.detach().clone()
        norms = []
        for w, loss in zip(self.weights, losses):
            grad, = torch.autograd.grad(w * loss, shared, create_graph=True)
            norms.append(grad.norm())
        norms = torch.stack(norms)
        with torch.no_grad():
            ratio = losses / self.initial
            rate = ratio / ratio.mean()
            target = norms.mean() * rate ** self.alpha
        balance = (norms - target).abs().sum()
        self.weights.grad, = torch.autograd.grad(balance, self.weights)
        self.optimizer.step()
        with torch.no_grad():
            self.weights.clamp_(min=0.05)
            self.weights.mul_(len(self.tasks) / self.weights.sum())
        return balance.item()


def make_greenhouse(cfg):
    gen = torch.Generator().manual_seed(cfg.seed)
    x = torch.randn(cfg.n, cfg.inputs, generator=gen)
    mix = torch.randn(cfg.inputs, 3, generator=gen) / cfg.inputs ** 0.5
    z = x @ mix
    return x, {
        "temperature": 4.0 * torch.sin(z[:, 0]),
        "humidity": z[:, 1] + 0.1 * torch.randn(cfg.n, generator=gen),
        "co2": 0.3 * z[:, 2] ** 2,
    }


def main():
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    x, targets = make_greenhouse(cfg)
    model = MultiTaskNet(cfg.inputs, cfg.width, targets)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    balancer = GradNormBalancer(targets, cfg.alpha, cfg.weight_lr)
    order = torch.Generator().manual_seed(0)

    for epoch in range(cfg.epochs):
        sums, steps, gap = torch.zeros(len(targets)), 0, 0.0
        for idx in torch.randperm(cfg.n, generator=order).split(cfg.batch):
            preds = model(x[idx])
            losses = torch.stack([F.mse_loss(preds[t], targets[t][idx]) for t in targets])
            optimizer.zero_grad()
            balancer.total(losses).backward()
            gap += balancer.update(losses, model.last_shared)
            optimizer.step()
            sums += losses.detach()
            steps += 1
        parts = " ".join(f"{t} {v:.3f}" for t, v in zip(targets, (sums / steps).tolist()))
        weights = " ".join(f"{w:.2f}" for w in balancer.weights.tolist())
        print(f"epoch {epoch}: {parts} | gap {gap / steps:.3f} | weights {weights}")


if __name__ == "__main__":
    main()
