"""A small normalizing flow of affine couplings, fitted by maximum likelihood."""
import math

import torch
from torch import nn


class Coupling(nn.Module):
    def __init__(self, size, flip):
        super().__init__()
        half = size // 2
        self.first = slice(half, size) if flip else slice(0, half)
        self.second = slice(0, half) if flip else slice(half, size)
        self.net = nn.Sequential(nn.Linear(half, 12), nn.Tanh(), nn.Linear(12, size))

    def forward(self, x):
        scale, shift = self.net(x[:, self.first]).chunk(2, dim=1)
        scale = torch.tanh(scale)
        x[:, self.second] = x[:, self.second] * scale.exp() + shift
        return x, scale.sum(1)


class Flow(nn.Module):
    def __init__(self, size, layers):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(size, flip=bool(n % 2)) for n in range(layers))
        self.mean = nn.Parameter(torch.zeros(size))
        self.log_sd = nn.Parameter(torch.zeros(size))

    def log_prob(self, x):
        z = (x - self.mean) * (-self.log_sd).exp()
        log_det = -self.log_sd.sum()
        for layer in self.layers:
            z, each = layer(z)
            log_det = log_det + each
        return (-0.5 * z.pow(2) - 0.5 * math.log(2 * math.pi)).sum(1) + log_det


def banana(count, random):
    x = torch.randn(count, 4, generator=random)
    x[:, 1] += x[:, 0] ** 2
    x[:, 3] -= x[:, 2]
    return x


def fit(steps):
    torch.manual_seed(10)
    random = torch.Generator().manual_seed(110)
    flow = Flow(4, 3)
    optimizer = torch.optim.AdamW(flow.parameters(), lr=0.01)
    for step in range(steps):
        optimizer.zero_grad()
        nll = -flow.log_prob(banana(32, random)).mean()
        nll.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"{step:3d} {nll.item():.4f}")


if __name__ == "__main__":
    fit(12)
