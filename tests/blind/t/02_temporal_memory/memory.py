import torch
import torch.nn as nn


class NodeMemory(nn.Module):
    """One vector per node, kept in a dict and refreshed by a GRU cell when the node is seen."""

    def __init__(self, n_nodes, dim, msg_dim):
        super().__init__()
        self.n_nodes = n_nodes
        self.dim = dim
        self.cell = nn.GRUCell(msg_dim, dim)
        self.container = {}
        self.reset()

    def reset(self):
        self.container = {i: torch.zeros(self.dim) for i in range(self.n_nodes)}

    def get(self, ids):
        return torch.stack([self.container[int(i)] for i in ids])

    def update(self, ids, messages):
        latest = {int(node): row for row, node in enumerate(ids)}
        rows = torch.tensor(list(latest.values()))
        fresh = self.cell(messages[rows], self.get(latest.keys()))
        for node, state in zip(latest, fresh):
            self.container[node] = state

    def detach(self):
        self.container = {node: state.detach() for node, state in self.container.items()}

    def summary(self):
        seen = sum(1 for s in self.container.values() if s.abs().sum() > 0)
        return f"{seen}/{self.n_nodes} nodes in memory"
