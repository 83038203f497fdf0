import torch
import torch.nn as nn


class TimeEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.lin = nn.Linear(1, dim)

    def forward(self, dt):
        return torch.cos(self.lin(dt.unsqueeze(-1)))


class MemoryUpdater(nn.Module):
    """Writes the messages of a batch of visits into the memories of its nodes."""

    def __init__(self, num_nodes, mem_dim=24, feat_dim=4, time_dim=8):
        super().__init__()
        self.num_nodes, self.mem_dim = num_nodes, mem_dim
        self.time_enc = TimeEncoder(time_dim)
        self.msg = nn.Sequential(nn.Linear(2 * mem_dim + feat_dim + time_dim, 32), nn.ReLU())
        self.gru = nn.GRUCell(32, mem_dim)
        self.register_buffer("start", torch.randn(num_nodes, mem_dim))

    def empty(self):
        return self.start.clone()

    def forward(self, memory, events):
        src, dst, feat, dt = events
        nodes = torch.cat([src, dst])
        other = torch.cat([dst, src])
        raw = torch.cat([memory[nodes], memory[other], feat.repeat(2, 1),
                         self.time_enc(dt).repeat(2, 1)], dim=1)
        messages = torch.zeros(self.num_nodes, 32).index_add(0, nodes, self.msg(raw))
        count = torch.zeros(self.num_nodes).index_add(0, nodes, torch.ones(len(nodes)))
        touched = (count > 0).unsqueeze(1)
        updated = self.gru(messages / count.clamp(min=1).unsqueeze(1), memory)
        return torch.where(touched, updated, memory)


class LinkScorer(nn.Module):
    def __init__(self, mem_dim=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * mem_dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, memory, src, dst):
        pair = torch.cat([memory[src], memory[dst]], dim=1)
        return self.net(pair).squeeze(1)
