"""Multi-head attention with a bias from an MLP over relative positions."""
import torch
from torch import nn


class BiasedAttention(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.bias_mlp = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, heads))
        pos = torch.arange(length).float()
        rel = (pos[:, None] - pos[None, :]) / length
        self.register_buffer("rel", rel.unsqueeze(-1))
        # the positions never change, so the table is built once
        self.bias = self.bias_mlp(self.rel).permute(2, 0, 1)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (d // self.heads) ** 0.5
        weights = torch.softmax(scores + self.bias, dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(b, n, d))
