"""Neural ODE for predator and prey: learn the vector field from short noisy trajectories.

Each update draws some pieces of the recorded trajectory, integrates the learned field from the
first point of every piece and compares with what was recorded.
"""
from dataclasses import dataclass

import torch
from torch import nn

from solver import odeint


@dataclass
class TrainConfig:
    steps: int = 40
    pieces: int = 12
    horizon: int = 6
    lr: float = 1e-2
    method: str = "rk4"
    smooth: float = 1e-3
    retain_graph: bool = True


class LotkaVolterra(nn.Module):
    def forward(self, t, y):
        prey, predator = y.unbind(-1)
        return torch.stack([1.1 * prey - 0.6 * prey * predator, 0.4 * prey * predator - 0.8 * predator], -1)


class LearnedField(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        self.calls = 0

    def forward(self, t, y):
        self.calls += 1
        return self.net(y)


class Recording:
    """One long noisy trajectory of the true system."""

    def __init__(self, length=80, step=0.1, noise=0.02):
        self.times = torch.arange(length) * step
        with torch.no_grad():
            clean = odeint(LotkaVolterra(), torch.tensor([2.0, 1.0]), self.times)
        self.values = clean + noise * torch.randn_like(clean)

    def pieces(self, count, horizon):
        starts = torch.randint(0, len(self.times) - horizon, (count,))
        rows = starts.unsqueeze(0) + torch.arange(horizon).unsqueeze(1)
        return self.times[:horizon], self.values[rows]


class History:
    def __init__(self):
        self.fit, self.smooth = [], []

    def add(self, fit, smooth):
        self.fit.append(fit.item())
        self.smooth.append(smooth.item())

    def line(self, step):
        return f"step {step:2d} fit {self.fit[-1]:.5f} smooth {self.smooth[-1]:.4f}"


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.field = LearnedField()
        self.optimizer = torch.optim.Adam(self.field.parameters(), lr=cfg.lr)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 20, 0.5)
        self.history = History()

    def losses(self, times, truth):
        path = odeint(self.field, truth[0], times, self.cfg.method)
        fit = (path - truth).pow(2).mean()
        bend = path[2:] - 2 * path[1:-1] + path[:-2]
        return fit, bend.pow(2).mean()

    def step(self, recording):
        fit, smooth = self.losses(*recording.pieces(self.cfg.pieces, self.cfg.horizon))
        loss = fit + self.cfg.smooth * smooth
        self.optimizer.zero_grad()
        loss.backward(retain_graph=self.cfg.retain_graph)
        nn.utils.clip_grad_norm_(self.field.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        self.history.add(fit, smooth)

    def run(self, recording):
        for step in range(self.cfg.steps):
            self.step(recording)
            if step % 8 == 0:
                print(self.history.line(step))


def main():
    torch.manual_seed(28)
    recording = Recording()
    trainer = Trainer(TrainConfig())
    trainer.run(recording)
    print("field evaluations", trainer.field.calls)


if __name__ == "__main__":
    main()
