import torch
import torch.nn as nn


class History:
    """The last known embedding of every node."""

    def __init__(self, nodes, width):
        self.table = torch.zeros(nodes, width)

    def push(self, index, values):
        self.table = self.table.index_copy(0, index, values.detach())

    def pull(self, index, fresh):
        """Fresh values for the nodes in `index`, remembered ones for all others."""
        return self.table.index_copy(0, index, fresh)


class HistoryGCN(nn.Module):
    def __init__(self, nodes, inputs, width, classes):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.second = nn.Linear(width, classes)
        self.history = History(nodes, width)

    def forward(self, features, adjacency, part):
        h = torch.relu(self.first(adjacency[part] @ features))
        everybody = self.history.pull(part, h)
        self.history.push(part, h)
        return self.second(adjacency[part] @ everybody)
