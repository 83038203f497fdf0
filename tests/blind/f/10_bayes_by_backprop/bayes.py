import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class BayesLinear(nn.Module):
    """A linear layer whose weights are drawn for every forward pass."""

    def __init__(self, inputs, outputs, prior=1.0):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(outputs, inputs + 1) / math.sqrt(inputs))
        self.rho = nn.Parameter(torch.full((outputs, inputs + 1), -4.0))
        self.prior = prior

    @property
    def sigma(self):
        return F.softplus(self.rho)

    def forward(self, x):
        weight = self.mu + self.sigma * torch.randn_like(self.mu)
        return F.linear(x, weight[:, :-1], weight[:, -1])

    def kl(self):
        ratio = (self.sigma / self.prior).pow(2)
        return 0.5 * (ratio + (self.mu / self.prior).pow(2) - 1 - ratio.log()).sum()


class BayesMLP(nn.Sequential):
    def __init__(self, inputs, width, outputs):
        super().__init__(BayesLinear(inputs, width), nn.Tanh(), BayesLinear(width, width), nn.Tanh(), BayesLinear(width, outputs))

    def kl(self):
        return sum(layer.kl() for layer in self if isinstance(layer, BayesLinear))
