"""Tiny vision transformer with a continuous relative position bias (a small MLP on log offsets)."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def log_offsets(side):
    ys, xs = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    pos = torch.stack([ys.reshape(-1), xs.reshape(-1)], dim=-1).float()
    rel = pos[:, None, :] - pos[None, :, :]
    return rel.sign() * torch.log1p(rel.abs())


class RelativeBias(nn.Module):
    def __init__(self, heads, hidden=16):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, heads))

    def forward(self, side):
        bias = self.mlp(log_offsets(side))
        return 4 * torch.sigmoid(bias).permute(2, 0, 1)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, bias):
        b, n, d = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(d // self.heads) + bias
        mixed = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(b, n, d)
        x = x + self.proj(mixed)
        return x + self.ff(self.norm2(x))


class PatchTransformer(nn.Module):
    def __init__(self, patch=2, dim=32, heads=4, depth=2, classes=4):
        super().__init__()
        self.patch = nn.Conv2d(1, dim, patch, stride=patch)
        self.rel_bias = RelativeBias(heads)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.head = nn.Linear(dim, classes)

    def forward(self, images):
        x = self.patch(images)
        side = x.shape[-1]
        x = x.flatten(2).transpose(1, 2)
        bias = self.rel_bias(side)
        for block in self.blocks:
            x = block(x, bias)
        return self.head(x.mean(1))
