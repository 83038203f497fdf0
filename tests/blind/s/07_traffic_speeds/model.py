import torch
import torch.nn as nn
import torch.nn.functional as F


class DiffusionConv(nn.Module):
    """sum_k A^k X W_k"""

    def __init__(self, d_in, d_out, hops):
        super().__init__()
        self.hops = hops
        self.mix = nn.Linear(d_in * (hops + 1), d_out)

    def forward(self, x, adj):
        feats = [x]
        for _ in range(self.hops):
            feats.append(torch.einsum("nm,bmd->bnd", adj, feats[-1]))
        return self.mix(torch.cat(feats, dim=-1))


class SpeedForecaster(nn.Module):
    """The sensor network is not given: it is learned through two sets of node embeddings."""

    def __init__(self, n_nodes, window, horizon, emb_dim=8, hidden=24, hops=2):
        super().__init__()
        self.source = nn.Parameter(0.5 * torch.randn(n_nodes, emb_dim))
        self.target = nn.Parameter(0.5 * torch.randn(n_nodes, emb_dim))
        scores = F.relu(self.source @ self.target.t())
        self.adj = F.softmax(scores, dim=1)
        self.conv1 = DiffusionConv(window, hidden, hops)
        self.conv2 = DiffusionConv(hidden, hidden, hops)
        self.readout = nn.Linear(hidden, horizon)

    def forward(self, x):
        h = F.relu(self.conv1(x, self.adj))
        h = h + F.relu(self.conv2(h, self.adj))
        return self.readout(h)
