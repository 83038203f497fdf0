import torch
import torch.nn as nn
import torch.nn.functional as F


def symmetric_norm(edge_index, weight, n):
    """Entries of D^-1/2 (A + I) D^-1/2, edges first and self loops last."""
    loops = torch.arange(n)
    row = torch.cat([edge_index[0], loops])
    col = torch.cat([edge_index[1], loops])
    weight = torch.cat([weight, torch.ones(n)])
    degree = torch.zeros(n).index_add(0, row, weight)
    scale = degree.rsqrt()
    return row, col, scale[row] * weight * scale[col]


class Propagation(nn.Module):
    """K hops over the normalised adjacency, which is computed on first use for transductive graphs."""

    def __init__(self, hops, cached=True):
        super().__init__()
        self.hops = hops
        self.cached = cached
        self._norm = None

    def norm(self, edge_index, weight, n):
        if self._norm is not None:
            return self._norm
        norm = symmetric_norm(edge_index, weight, n)
        if self.cached:
            self._norm = norm
        return norm

    def forward(self, h, edge_index, weight):
        row, col, value = self.norm(edge_index, weight, h.size(0))
        for _ in range(self.hops):
            h = torch.zeros_like(h).index_add(0, row, value.unsqueeze(1) * h[col])
        return h


class EdgeGatedSGC(nn.Module):
    def __init__(self, n_in, hidden, n_out, n_edges, hops, dropout):
        super().__init__()
        self.edge_score = nn.Parameter(torch.full((n_edges,), 1.0))
        self.lift = nn.Linear(n_in, hidden)
        self.propagate = Propagation(hops, cached=False)
        self.readout = nn.Linear(hidden, n_out)
        self.dropout = dropout

    def gates(self):
        return torch.sigmoid(self.edge_score)

    def forward(self, x, edge_index):
        h = F.dropout(F.relu(self.lift(x)), self.dropout, self.training)
        h = self.propagate(h, edge_index, self.gates())
        return self.readout(h)
