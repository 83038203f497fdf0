from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class TypedGraph(NamedTuple):
    key: int
    adjacency: torch.Tensor
    types: torch.Tensor
    features: torch.Tensor
    label: torch.Tensor


class RelationNet(nn.Module):
    """Messages weighted by the learned importance of an edge's type."""

    def __init__(self, inputs, width, types):
        super().__init__()
        self.relation = nn.Parameter(torch.randn(types))
        self.first = nn.Linear(inputs, width)
        self.second = nn.Linear(width, width)
        self.out = nn.Linear(width, 2)
        self._propagation = {}

    def propagation(self, graph):
        if graph.key not in self._propagation:
            weights = F.softplus(self.relation)[graph.types] * graph.adjacency
            degree = graph.adjacency.sum(1, keepdim=True)
            self._propagation[graph.key] = weights / degree
        return self._propagation[graph.key]

    def forward(self, graph):
        matrix = self.propagation(graph)
        h = torch.relu(matrix @ self.first(graph.features))
        h = torch.relu(matrix @ self.second(h))
        return self.out(h.mean(0, keepdim=True))
