import torch
from torch import nn

from layers import Swish


def mlp(sizes):
    layers = []
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        layers.append(nn.Linear(a, b))
        if i < len(sizes) - 2:
            layers.append(Swish())
    return nn.Sequential(*layers)


class Generator(nn.Module):
    def __init__(self, noise, window):
        super().__init__()
        self.noise = noise
        self.net = mlp([noise, 48, window])

    def forward(self, n):
        return self.net(torch.randn(n, self.noise))


class Critic(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.net = mlp([window, 48, 48, 1])

    def forward(self, x):
        return self.net(x).squeeze(-1)
