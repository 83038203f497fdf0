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

    def propagation(self, graph):
        weights = F.softplus(self.relation)[graph.types] * graph.adjacency
        degree = graph.adjacency.sum(1, keepdim=True)
        return weights / degree

    def forward(self, graph):
        matrix = self.propagation(graph)
        h = torch.relu(matrix @ self.first(graph.features))
        h = torch.relu(matrix @ self.second(h))
        return self.out(h.mean(0, keepdim=True))
