"""Rotary position embedding with learnable frequencies."""
import torch
from torch import nn


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([-b, a], dim=-1)


class RotaryEmbedding(nn.Module):
    """Rotates queries and keys by position-dependent angles.

    The frequencies start at the usual geometric series and are trained with the model when
    `learned` is set (as for irregularly sampled signals, where no fixed series fits).
    """

    def __init__(self, head_dim, base=100.0, learned=True):
        super().__init__()
        series = base ** (-torch.arange(0, head_dim, 2).float() / head_dim)
        if learned:
            self.freqs = nn.Parameter(series)
        else:
            self.register_buffer("freqs", series)
        self._tables = {}

    def tables(self, length):
        """cos and sin tables for `length` positions."""
        if length not in self._tables:
            angles = torch.outer(torch.arange(length).float(), self.freqs)
            angles = torch.cat([angles, angles], dim=-1)
            self._tables[length] = (angles.cos(), angles.sin())
        return self._tables[length]

    def forward(self, q, k):
        cos, sin = self.tables(q.shape[-2])
        return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
