"""Multi-task learning with homoscedastic uncertainty weights (Kendall et al., 2018).

A shared trunk predicts depth, surface normals and a semantic class for scene
vectors.  The trunk, the heads and the three log-variances are trained together
on   sum_k  exp(-s_k) L_k + s_k.
"""
from dataclasses import dataclass, field
from typing import Callable, Dict

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    dim: int = 24
    width: int = 32
    steps: int = 30
    batch: int = 16
    lr: float = 2e-3
    seed: int = 17


@dataclass
class Task:
    out_dim: int
    loss_fn: Callable
    log: list = field(default_factory=list)


def normal_loss(pred, target):
    return (1 - F.cosine_similarity(pred, target, dim=1)).mean()


TASKS: Dict[str, Task] = {
    "depth": Task(1, lambda p, t: F.l1_loss(p, t)),
    "normal": Task(3, normal_loss),
    "semantic": Task(5, lambda p, t: F.cross_entropy(p, t)),
}


class MultiTaskNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(cfg.dim, cfg.width), nn.GELU(),
            nn.Linear(cfg.width, cfg.width), nn.GELU(),
        )
        self.heads = nn.ModuleDict({n: nn.Linear(cfg.width, t.out_dim) for n, t in TASKS.items()})

    def forward(self, x):
        z = self.trunk(x)
        return {name: head(z) for name, head in self.heads.items()}


class UncertaintyWeights(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.log_var = nn.ParameterDict({n: nn.Parameter(torch.zeros(())) for n in names})

    def forward(self, name, loss):
        s = self.log_var[name]
        return torch.exp(-s) * loss + s


class Scenes:
    def __init__(self, cfg):
        self.cfg = cfg
        self.w_depth = torch.randn(cfg.dim, 1) * 0.3
        self.w_normal = torch.randn(cfg.dim, 3)
        self.w_class = torch.randn(cfg.dim, 5)

    def sample(self):
        x = torch.randn(self.cfg.batch, self.cfg.dim)
        return x, {
            "depth": (x @ self.w_depth).abs(),
            "normal": F.normalize(x @ self.w_normal, dim=1),
            "semantic": (x @ self.w_class).argmax(dim=1),
        }


class Trainer:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        self.data = Scenes(cfg)
        self.net = MultiTaskNet(cfg)
        self.weighting = UncertaintyWeights(TASKS)
        self.opt = torch.optim.Adam(
            [{"params": self.net.parameters()}, {"params": self.weighting.parameters(), "lr": 1e-2}],
            lr=cfg.lr)

    def train_step(self):
        x, targets = self.data.sample()
        outputs = self.net(x)
        self.opt.zero_grad()
        for name, task in TASKS.items():
            raw = task.loss_fn(outputs[name], targets[name])
            self.weighting(name, raw).backward()
            task.log.append(raw.item())
        nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.opt.step()

    def fit(self):
        for _ in range(self.cfg.steps):
            self.train_step()
        for name, task in TASKS.items():
            print(f"{name:9s} first {task.log[0]:.4f} last {task.log[-1]:.4f}")


if __name__ == "__main__":
    Trainer(Config()).fit()
