"""Rotary position embedding with learned frequencies."""
import torch
from torch import nn


class Frequencies(nn.Module):
    def __init__(self, half):
        super().__init__()
        self.log_freq = nn.Parameter(-torch.arange(half).float() * 1.2)
        self._cache = {}

    def get(self, device):
        key = str(device)
        if key not in self._cache:
            self._cache[key] = torch.exp(self.log_freq).to(device)
        return self._cache[key]


class Rotary(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.freqs = Frequencies(width // 2)
        self._tables = {}

    def table(self, n, device):
        if (n, device) not in self._tables:
            angle = torch.arange(n, device=device).float()[:, None] * self.freqs.get(device)
            self._tables[n, device] = (angle.cos(), angle.sin())
        return self._tables[n, device]

    def forward(self, x):
        cos, sin = self.table(x.size(1), x.device)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
