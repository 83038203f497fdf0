"""Meta-learning of calibration curves with learned inner step sizes (second order).

Every sensor is a task. A model is adapted to a sensor by two gradient steps on a few support
points, and judged on query points. Initial weights and step sizes are trained through the
adaptation; the support losses along the way enter with a small weight. The tasks of a meta-batch are
back-propagated one after another to save memory.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from adapt import Adapter, LearnedRates


@dataclass
class Config:
    updates: int = 25
    tasks: int = 4
    support: int = 8
    query: int = 12
    inner_steps: int = 2
    trail_weight: float = 0.1
    hidden: int = 20
    lr: float = 5e-3


class Sensor:
    """A sensor with its own gain, offset and bend."""

    def __init__(self):
        self.gain = 0.5 + torch.rand(())
        self.offset = torch.randn(()) * 0.5
        self.bend = 1 + 2 * torch.rand(())

    def points(self, count):
        x = torch.rand(count, 1) * 4 - 2
        return x, self.gain * torch.tanh(self.bend * x) + self.offset


class RunningScore:
    """Smoothed query loss before and after adaptation."""

    def __init__(self, decay=0.8):
        self.decay = decay
        self.before = self.after = None

    def add(self, before, after):
        before, after = before.detach(), after.detach()
        if self.before is None:
            self.before, self.after = before, after
        else:
            self.before = self.decay * self.before + (1 - self.decay) * before
            self.after = self.decay * self.after + (1 - self.decay) * after

    def __str__(self):
        return f"before {self.before.item():.4f} after {self.after.item():.4f}"


class MetaLearner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = nn.Sequential(nn.Linear(1, cfg.hidden), nn.Tanh(), nn.Linear(cfg.hidden, 1))
        names = [n for n, _ in self.model.named_parameters()]
        self.rates = LearnedRates(names, cfg.inner_steps)
        self.adapter = Adapter(self.model, self.rates, F.mse_loss, cfg.inner_steps)
        self.optimizer = torch.optim.Adam([*self.model.parameters(), *self.rates.parameters()], lr=cfg.lr)
        self.score = RunningScore()

    def task_loss(self, sensor):
        support, query = sensor.points(self.cfg.support), sensor.points(self.cfg.query)
        weights, trail = self.adapter.adapt(*support)
        after = F.mse_loss(self.adapter.predict(weights, query[0]), query[1])
        self.score.add(trail[0], after)
        return after + self.cfg.trail_weight * sum(trail)

    def update(self):
        self.optimizer.zero_grad()
        for _ in range(self.cfg.tasks):
            (self.task_loss(Sensor()) / self.cfg.tasks).backward()
        self.optimizer.step()


def main():
    torch.manual_seed(30)
    cfg = Config()
    learner = MetaLearner(cfg)
    for i in range(cfg.updates):
        learner.update()
        if i % 5 == 0:
            print(f"update {i:2d} {learner.score}")
    print("rates", {n: [round(v, 3) for v in p.exp().tolist()] for n, p in learner.rates.log_rates.items()})


if __name__ == "__main__":
    main()
