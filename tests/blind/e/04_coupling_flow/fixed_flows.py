"""RealNVP-style coupling layers for low-dimensional densities."""
import math

import torch
import torch.nn as nn


class AffineCoupling(nn.Module):
    """Scales and shifts every second column as a function of the others."""

    def __init__(self, dim, hidden, flip):
        super().__init__()
        self.keep = slice(1, None, 2) if flip else slice(0, None, 2)
        self.change = slice(0, None, 2) if flip else slice(1, None, 2)
        self.net = nn.Sequential(nn.Linear(dim // 2, hidden), nn.Tanh(), nn.Linear(hidden, dim))

    def coefficients(self, x):
        scale, shift = self.net(x[:, self.keep]).chunk(2, dim=1)
        return torch.tanh(scale), shift

    def forward(self, x):
        scale, shift = self.coefficients(x)
        y = x.clone()
        y[:, self.change] = x[:, self.change] * scale.exp() + shift
        return y, scale.sum(dim=1)

    def inverse(self, z):
        scale, shift = self.coefficients(z)
        z[:, self.change] = (z[:, self.change] - shift) * (-scale).exp()
        return z


class Flow(nn.Module):
    def __init__(self, dim=2, hidden=32, layers=4):
        super().__init__()
        self.dim = dim
        self.layers = nn.ModuleList(AffineCoupling(dim, hidden, flip=bool(i % 2)) for i in range(layers))

    def log_prob(self, x):
        log_det = torch.zeros(len(x))
        for layer in self.layers:
            x, ld = layer(x)
            log_det = log_det + ld
        base = -0.5 * (x.pow(2) + math.log(2 * math.pi)).sum(dim=1)
        return base + log_det

    @torch.no_grad()
    def sample(self, count):
        z = torch.randn(count, self.dim)
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z
