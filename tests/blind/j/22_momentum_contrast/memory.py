"""The bank of negative keys and the momentum encoder."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


class KeyBank(nn.Module):
    """Ring buffer of the keys of past batches (first in, first out)."""

    def __init__(self, dim, size):
        super().__init__()
        self.register_buffer("keys", F.normalize(torch.randn(size, dim), dim=1))
        self.head = 0

    @torch.no_grad()
    def push(self, new):
        count = len(new)
        rows = (self.head + torch.arange(count)) % len(self.keys)
        self.keys[rows] = new
        self.head = (self.head + count) % len(self.keys)

    def similarity(self, queries):
        """Similarity of every query with every key in the bank."""
        return queries @ self.keys.T


class MomentumEncoder(nn.Module):
    """A slowly following, untrained copy of an encoder."""

    def __init__(self, encoder, momentum):
        super().__init__()
        self.net = copy.deepcopy(encoder)
        self.momentum = momentum
        for p in self.net.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def follow(self, encoder):
        for slow, fast in zip(self.net.parameters(), encoder.parameters()):
            slow.mul_(self.momentum).add_(fast, alpha=1 - self.momentum)

    @torch.no_grad()
    def forward(self, x):
        return self.net(x)
