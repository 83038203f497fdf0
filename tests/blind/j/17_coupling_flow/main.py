"""Density estimation with a normalizing flow (affine coupling layers).

The flow maps two-moon data to a standard normal by maximum likelihood. In a coupling layer
the first half of the coordinates passes unchanged and decides how the second half is scaled
and shifted; the halves swap roles from layer to layer.
"""
import math

import torch
from torch import nn


class Coupling(nn.Module):
    """y1 = x1, y2 = x2 * exp(s(x1)) + t(x1)."""

    def __init__(self, dim, hidden, flip):
        super().__init__()
        self.half = dim // 2
        self.flip = flip
        self.net = nn.Sequential(
            nn.Linear(self.half, hidden), nn.ReLU(),
            nn.Linear(hidden, 2 * self.half),
        )

    def forward(self, x):
        if self.flip:
            x = x.flip(-1)
        keep = x[:, :self.half]
        scale, shift = self.net(keep).chunk(2, dim=-1)
        scale = torch.tanh(scale)
        x[:, self.half:] = x[:, self.half:] * scale.exp() + shift
        if self.flip:
            x = x.flip(-1)
        return x, scale.sum(-1)


class Flow(nn.Module):
    def __init__(self, dim=4, layers=4, hidden=24):
        super().__init__()
        self.dim = dim
        self.layers = nn.ModuleList(Coupling(dim, hidden, flip=bool(i % 2)) for i in range(layers))

    def forward(self, x):
        log_det = x.new_zeros(len(x))
        for layer in self.layers:
            x, contribution = layer(x)
            log_det = log_det + contribution
        return x, log_det

    def log_prob(self, x):
        z, log_det = self(x.clone())
        normal = -0.5 * (z ** 2).sum(-1) - 0.5 * self.dim * math.log(2 * math.pi)
        return normal + log_det


def moons(count):
    """Two moons, lifted to four coordinates."""
    angle = math.pi * torch.rand(count)
    side = torch.randint(0, 2, (count,)).float()
    a = torch.cos(angle) * (1 - 2 * side) + side
    b = torch.sin(angle) * (1 - 2 * side) + 0.5 * side
    points = torch.stack([a, b, a + b, a - b], 1)
    return points + 0.1 * torch.randn_like(points)


class MaximumLikelihood:
    def __init__(self, flow, lr=5e-3):
        self.flow = flow
        self.optimizer = torch.optim.Adam(flow.parameters(), lr=lr)
        self.curve = []

    def step(self, batch):
        nll = -self.flow.log_prob(batch).mean()
        self.optimizer.zero_grad()
        nll.backward()
        self.optimizer.step()
        self.curve.append(nll.item())


def main():
    torch.manual_seed(17)
    trainer = MaximumLikelihood(Flow())
    for step in range(50):
        trainer.step(moons(64))
        if step % 10 == 0:
            print("step", step, "nll", round(trainer.curve[-1], 4))
    print("final", round(trainer.curve[-1], 4))


if __name__ == "__main__":
    main()
