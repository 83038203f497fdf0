"""Per-node memory for a stream of interactions (TGN style)."""
import torch
import torch.nn as nn


class NodeMemory(nn.Module):
    """Keeps one vector per node and refreshes it from the last message it received."""

    def __init__(self, n_nodes, dim, feat_dim):
        super().__init__()
        self.n_nodes = n_nodes
        self.dim = dim
        self.message_fn = nn.Sequential(
            nn.Linear(2 * dim + feat_dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.updater = nn.GRUCell(dim, dim)
        self.reset()

    def reset(self):
        self.state = torch.zeros(self.n_nodes, self.dim)
        self.pending = {}

    def enqueue(self, src, dst, feat):
        """Remember the raw messages of a batch; the newest message of a node wins."""
        raw_src = torch.cat([self.state[src], self.state[dst], feat], dim=1)
        raw_dst = torch.cat([self.state[dst], self.state[src], feat], dim=1)
        for k, node in enumerate(src.tolist()):
            self.pending[node] = raw_src[k]
        for k, node in enumerate(dst.tolist()):
            self.pending[node] = raw_dst[k]

    def flush(self):
        """Apply the waiting messages to the memory."""
        if not self.pending:
            return
        nodes = torch.tensor(sorted(self.pending))
        raw = torch.stack([self.pending[n] for n in nodes.tolist()])
        fresh = self.updater(self.message_fn(raw), self.state[nodes])
        self.state = self.state.index_put((nodes,), fresh)
        self.pending = {}
