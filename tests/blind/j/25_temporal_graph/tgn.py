"""Temporal graph network: node memory, messages and link predictor."""
import torch
from torch import nn


class NodeMemory(nn.Module):
    """One state vector per node, and for each node the last raw message not yet read.

    A message is read when its node is next involved in an interaction: the message function
    and the GRU turn it into the node's new state. This is how they are trained, by the
    interactions of the batch in which the message is read. Nothing is trained over the border
    of a batch.
    """

    def __init__(self, nodes, dim, edge_dim):
        super().__init__()
        self.nodes, self.dim = nodes, dim
        raw = 2 * dim + edge_dim
        self.message = nn.Sequential(nn.Linear(raw, dim), nn.ReLU())
        self.updater = nn.GRUCell(dim, dim)
        self.reset()

    def reset(self):
        self.state = torch.zeros(self.nodes, self.dim)
        self.inbox = {}

    def read(self, nodes):
        """State of all nodes after those in `nodes` have read their message."""
        waiting = [n for n in nodes.unique().tolist() if n in self.inbox]
        if not waiting:
            return self.state
        index = torch.tensor(waiting)
        raw = torch.stack([self.inbox.pop(n) for n in waiting])
        fresh = self.updater(self.message(raw), self.state[index])
        return self.state.index_copy(0, index, fresh)

    def store(self, state, src, dst, features):
        """Keep the new state and leave a message for both ends of every interaction."""
        self.state = state
        forth = torch.cat([state[src], state[dst], features], 1)
        back = torch.cat([state[dst], state[src], features], 1)
        for i, (s, d) in enumerate(zip(src.tolist(), dst.tolist())):
            self.inbox[s] = forth[i]
            self.inbox[d] = back[i]

    def detach(self):
        """Called at the border of a batch."""
        self.state = self.state.detach()


class TemporalGraphNetwork(nn.Module):
    def __init__(self, nodes, dim=12, edge_dim=3):
        super().__init__()
        self.memory = NodeMemory(nodes, dim, edge_dim)
        self.static = nn.Embedding(nodes, dim)
        self.scorer = nn.Sequential(nn.Linear(4 * dim, 24), nn.ReLU(), nn.Linear(24, 1))

    def embed(self, state, nodes):
        return torch.cat([state[nodes], self.static(nodes)], 1)

    def forward(self, src, dst, negative, features):
        state = self.memory.read(torch.cat([src, dst]))
        a = self.embed(state, src)
        positive = self.scorer(torch.cat([a, self.embed(state, dst)], 1))
        wrong = self.scorer(torch.cat([a, self.embed(state, negative)], 1))
        self.memory.store(state, src, dst, features)
        return positive.squeeze(1), wrong.squeeze(1)
