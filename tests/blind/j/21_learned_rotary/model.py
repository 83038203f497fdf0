"""A small causal transformer for irregular sensor signals."""
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads, rotary):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width)
        self.rotary = rotary

    def forward(self, x):
        b, n, w = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        q, k = self.rotary(q, k)
        scores = q @ k.transpose(-1, -2) / (w // self.heads) ** 0.5
        future = torch.ones(n, n, dtype=torch.bool).triu(1)
        out = scores.masked_fill(future, float("-inf")).softmax(-1) @ v
        return self.proj(out.transpose(1, 2).reshape(b, n, w))


class Block(nn.Module):
    def __init__(self, width, heads, rotary):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads, rotary)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class SignalTransformer(nn.Module):
    """Predicts the next sample of a signal from the samples so far."""

    def __init__(self, rotary, width=16, heads=2, depth=2):
        super().__init__()
        self.embed = nn.Linear(1, width)
        self.blocks = nn.ModuleList(Block(width, heads, rotary) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 1)

    def forward(self, signal):
        h = self.embed(signal.unsqueeze(-1))
        for block in self.blocks:
            h = block(h)
        return self.out(self.norm(h)).squeeze(-1)

    def loss(self, signal):
        return F.mse_loss(self(signal[:, :-1]), signal[:, 1:])
