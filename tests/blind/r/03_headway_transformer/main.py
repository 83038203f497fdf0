"""Predict the delay at each stop of a bus trip with a small transformer.

Trips have different numbers of stops.  Attention gets a learned bias that an
MLP computes from the log-spaced distance between two stops (as in Swin v2).
"""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3
STOP_COUNTS = (10, 14, 18, 22)


class DistanceBias(nn.Module):
    """Maps pairwise stop distances to one bias per head."""

    def __init__(self, heads, hidden=32):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(1, hidden), nn.ReLU(), nn.Linear(hidden, heads))
        self._tables = {}

    @staticmethod
    def distances(n):
        pos = torch.arange(n, dtype=torch.float32)
        rel = pos[None, :] - pos[:, None]
        return torch.sign(rel) * torch.log1p(rel.abs())

    def forward(self, n):
        if n not in self._tables:
            rel = self.distances(n).unsqueeze(-1)
            self._tables[n] = self.mlp(rel).permute(2, 0, 1)
        return self._tables[n]


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.bias = DistanceBias(heads)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        q, k, v = (t.reshape(b, n, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        attn = torch.softmax(scores + self.bias(n), dim=-1)
        x = x + self.out((attn @ v).transpose(1, 2).reshape(b, n, d))
        return x + self.ff(self.norm2(x))


class DelayModel(nn.Module):
    def __init__(self, n_features=3, dim=24, heads=4, depth=2):
        super().__init__()
        self.embed = nn.Linear(n_features, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(depth)])
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(-1)


def sample_trips(batch, n):
    load = torch.rand(batch, n)
    signal = torch.randn(batch, n).cumsum(dim=1) * 0.2
    gap = torch.rand(batch, n)
    kernel = torch.tensor([0.2, 0.3, 0.5])
    padded = F.pad(load * gap, (2, 0)).unsqueeze(1)
    delay = F.conv1d(padded, kernel.view(1, 1, 3)).squeeze(1) + 0.3 * signal
    return torch.stack([load, signal, gap], dim=-1), delay


def main():
    random.seed(SEED)
    torch.manual_seed(SEED)
    model = DelayModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=80)

    for step in range(80):
        n = random.choice(STOP_COUNTS)
        features, delay = sample_trips(24, n)
        loss = F.smooth_l1_loss(model(features), delay)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % 10 == 0:
            print(f"step {step:3d}  stops {n}  loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
