import copy

import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self, latent=4, width=8):
        super().__init__()
        self.latent = latent
        self.net = nn.Sequential(nn.Linear(latent, 16), nn.ReLU(), nn.Linear(16, width))

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


class ModelEMA:
    def __init__(self, model, decay=0.9):
        self.module = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for mine, theirs in zip(self.module.parameters(), model.parameters()):
            mine.lerp_(theirs, 1 - self.decay)
