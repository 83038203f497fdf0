"""Rotary position embedding with learned frequencies."""
import torch
from torch import nn


class Frequencies(nn.Module):
    def __init__(self, half):
        super().__init__()
        self.log_freq = nn.Parameter(-torch.arange(half).float() * 1.2)

    def get(self, device):
        return torch.exp(self.log_freq).to(device)


class Rotary(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.freqs = Frequencies(width // 2)

    def table(self, n, device):
        angle = torch.arange(n, device=device).float()[:, None] * self.freqs.get(device)
        return angle.cos(), angle.sin()

    def forward(self, x):
        cos, sin = self.table(x.size(1), x.device)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
