import torch
from torch import nn


def normalized_adjacency(edges):
    looped = edges + torch.eye(len(edges))
    scale = looped.sum(dim=1).rsqrt()
    return scale[:, None] * looped * scale[None, :]


class PropagateLinear(nn.Module):
    """A^k X W, with the propagation kept for the next call."""

    def __init__(self, n_in, n_out, adj, hops=2, cached=False):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out, bias=False)
        self.register_buffer("adj", adj)
        self.hops = hops
        self.cached = cached
        self._cached_x = None

    def forward(self, x):
        if self._cached_x is None or not self.cached:
            x = self.lin(x)
            for _ in range(self.hops):
                x = self.adj @ x
            self._cached_x = x
        return self._cached_x
