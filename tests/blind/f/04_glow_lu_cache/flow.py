import math

import torch
import torch.nn as nn


class LUMix(nn.Module):
    """Invertible linear mixing W = P L U with a learned diagonal, as in Glow.

    Composing W costs more than applying it, so it is kept; switching between train() and eval() drops it."""

    def __init__(self, dim):
        super().__init__()
        q, _ = torch.linalg.qr(torch.randn(dim, dim))
        p, l, u = torch.linalg.lu(q)
        self.register_buffer("perm", p)
        self.lower = nn.Parameter(l.tril(-1))
        self.upper = nn.Parameter(u.triu(1))
        self.register_buffer("sign", u.diagonal().sign())
        self.log_scale = nn.Parameter(u.diagonal().abs().log())
        self._weight = None

    def weight(self):
        if self._weight is None:
            lower = self.lower.tril(-1) + torch.eye(len(self.lower))
            upper = self.upper.triu(1) + torch.diag(self.sign * self.log_scale.exp())
            self._weight = self.perm @ lower @ upper
        return self._weight

    def train(self, mode=True):
        self._weight = None
        return super().train(mode)

    def forward(self, x):
        return x @ self.weight().T, self.log_scale.sum()


class Coupling(nn.Module):
    def __init__(self, dim, width=32):
        super().__init__()
        self.half = dim // 2
        self.net = nn.Sequential(nn.Linear(self.half, width), nn.ReLU(), nn.Linear(width, 2 * (dim - self.half)))

    def forward(self, x):
        kept, changed = x[:, :self.half], x[:, self.half:]
        log_s, t = self.net(kept).chunk(2, 1)
        log_s = torch.tanh(log_s)
        return torch.cat([kept, changed * log_s.exp() + t], 1), log_s.sum(1)


class Flow(nn.Module):
    def __init__(self, dim, blocks):
        super().__init__()
        self.layers = nn.ModuleList(layer for _ in range(blocks) for layer in (LUMix(dim), Coupling(dim)))

    def log_prob(self, x):
        logdet = torch.zeros(len(x))
        for layer in self.layers:
            x, change = layer(x)
            logdet = logdet + change
        return -0.5 * (x ** 2 + math.log(2 * math.pi)).sum(1) + logdet
