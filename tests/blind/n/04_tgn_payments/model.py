import torch
from torch import nn


class MemoryUpdater(nn.Module):
    """GRU that rewrites a node's memory from the message of an event."""

    def __init__(self, mem_dim, edge_dim):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * mem_dim + edge_dim, mem_dim), nn.ReLU())
        self.cell = nn.GRUCell(mem_dim, mem_dim)

    def forward(self, own, other, feats):
        msg = self.message(torch.cat([own, other, feats], dim=1))
        return self.cell(msg, own)


class EdgeScorer(nn.Module):
    def __init__(self, mem_dim, edge_dim):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * mem_dim + edge_dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, a, b, feats):
        return self.body(torch.cat([a, b, feats], dim=1)).squeeze(1)
