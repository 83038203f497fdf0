import torch
import torch.nn as nn


class TimeEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.freq = nn.Parameter(1.0 / 10 ** torch.linspace(0, 3, dim))

    def forward(self, dt):
        return torch.cos(dt.unsqueeze(-1) * self.freq)


class NodeMemory(nn.Module):
    """One state vector per user, rewritten by a GRU whenever the user sends or gets a message."""

    def __init__(self, n_nodes, dim, feat_dim, time_dim):
        super().__init__()
        self.n_nodes, self.dim = n_nodes, dim
        self.time = TimeEncoder(time_dim)
        self.cell = nn.GRUCell(dim + feat_dim + time_dim, dim)
        self.reset()

    def reset(self):
        self.state = torch.zeros(self.n_nodes, self.dim)
        self.last_seen = torch.zeros(self.n_nodes)

    def update(self, src, dst, feat, t):
        nodes = torch.cat([src, dst])
        peers = torch.cat([dst, src])
        times = torch.cat([t, t])
        message = torch.cat([
            self.state[peers],
            torch.cat([feat, feat]),
            self.time(times - self.last_seen[nodes]),
        ], dim=1)
        new = self.cell(message, self.state[nodes])
        count = torch.zeros(self.n_nodes).index_add(0, nodes, torch.ones(len(nodes)))
        total = torch.zeros_like(self.state).index_add(0, nodes, new)
        seen = (count > 0).unsqueeze(1)
        self.state = torch.where(seen, total / count.clamp(min=1).unsqueeze(1), self.state)
        self.last_seen = self.last_seen.index_copy(0, nodes, times)
        return self.state
