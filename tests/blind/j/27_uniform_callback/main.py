"""Self-supervised embeddings of ECG beats: alignment plus uniformity.

The main loss brings two views of a beat together. Further objectives are plugged in as
extensions; every extension adds its own gradient to the update of the batch. Here one
extension spreads the embeddings over the sphere, without which they would all collapse to
one point, and another one just watches the spread.
"""
from dataclasses import dataclass, field
from typing import List

import torch
import torch.nn.functional as F
from torch import nn

LENGTH = 20


@dataclass
class Config:
    steps: int = 50
    batch: int = 24
    dim: int = 4
    hidden: int = 24
    lr: float = 0.05
    uniformity: float = 1.5
    sharpness: float = 2.0


class Beats:
    """Heart beats of three kinds with random gain, shift and noise."""

    def __init__(self):
        axis = torch.linspace(-1, 1, LENGTH)
        self.shapes = torch.stack([
            torch.exp(-20 * axis ** 2),
            torch.exp(-20 * axis ** 2) - 0.5 * torch.exp(-20 * (axis - 0.5) ** 2),
            -torch.sin(4 * axis) * torch.exp(-3 * axis ** 2),
        ])

    def views(self, size):
        kind = torch.randint(0, 3, (size,))
        beats = self.shapes[kind]
        return self.augment(beats), self.augment(beats)

    def augment(self, beats):
        gain = 0.8 + 0.4 * torch.rand(len(beats), 1)
        shift = torch.randint(-1, 2, ()).item()
        return gain * beats.roll(shift, 1) + 0.05 * torch.randn_like(beats)


class BeatEncoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(LENGTH, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, cfg.dim)
        )

    def forward(self, beats):
        return F.normalize(self.layers(beats), dim=1)


class Extension:
    def apply(self, trainer, first, second):
        """Work on the current batch."""


class Uniformity(Extension):
    """Extra objective: log of the mean Gaussian potential between the embeddings."""

    def __init__(self, weight, sharpness):
        self.weight = weight
        self.sharpness = sharpness
        self.last = float("nan")

    def apply(self, trainer, first, second):
        z = trainer.encoder(first)
        potential = torch.pdist(z).pow(2).mul(-self.sharpness).exp().mean().log()
        (self.weight * potential).backward()
        self.last = potential.item()


@dataclass
class SpreadWatch(Extension):
    values: List[float] = field(default_factory=list)

    @torch.no_grad()
    def apply(self, trainer, first, second):
        self.values.append(trainer.encoder(second).std(0).mean().item())


class Trainer:
    def __init__(self, cfg, extensions):
        self.cfg = cfg
        self.encoder = BeatEncoder(cfg)
        self.optimizer = torch.optim.SGD(self.encoder.parameters(), lr=cfg.lr, momentum=0.9)
        self.extensions = extensions
        self.beats = Beats()
        self.alignment = float("nan")

    def align(self, first, second):
        return (self.encoder(first) - self.encoder(second)).pow(2).sum(1).mean()

    def step(self):
        first, second = self.beats.views(self.cfg.batch)
        self.optimizer.zero_grad()
        loss = self.align(first, second)
        loss.backward()
        self.optimizer.step()
        for extension in self.extensions:
            extension.apply(self, first, second)
        self.alignment = loss.item()


def main():
    torch.manual_seed(27)
    cfg = Config()
    uniformity = Uniformity(cfg.uniformity, cfg.sharpness)
    watch = SpreadWatch()
    trainer = Trainer(cfg, [uniformity, watch])
    for step in range(cfg.steps):
        trainer.step()
        if step % 10 == 0:
            print(f"step {step:2d} align {trainer.alignment:.4f} uniform {uniformity.last:.4f} "
                  f"spread {watch.values[-1]:.4f}")
    print("final spread", round(watch.values[-1], 4))


if __name__ == "__main__":
    main()
