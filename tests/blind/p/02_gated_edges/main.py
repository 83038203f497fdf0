"""Node classification with a graph convolution whose edges have learned gates.

Every undirected edge has a gate in (0, 1). The gates, which weigh the
normalised adjacency, are learned together with the layers: spurious edges
between communities should end up nearly closed.
"""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(58)


def make_graph(n=60, communities=3, p_in=0.25, p_out=0.06):
    y = torch.arange(n) % communities
    prob = torch.where(y[:, None] == y[None, :], p_in, p_out)
    upper = torch.triu(torch.rand(n, n) < prob, diagonal=1)
    edges = upper.nonzero().t()
    x = F.one_hot(y, communities).float() + 1.2 * torch.randn(n, communities)
    return x, y, edges


class GatedGCN(nn.Module):
    def __init__(self, edges, num_nodes, in_dim, hidden, num_classes):
        super().__init__()
        self.num_nodes = num_nodes
        self.register_buffer("edges", edges)
        self.edge_logit = nn.Parameter(torch.zeros(edges.shape[1]))
        self.lin1 = nn.Linear(in_dim, hidden)
        self.lin2 = nn.Linear(hidden, num_classes)
        self.adj = self.normalized_adjacency()

    def normalized_adjacency(self):
        gate = torch.sigmoid(self.edge_logit)
        src, dst = self.edges
        adj = torch.zeros(self.num_nodes, self.num_nodes)
        adj = adj.index_put((src, dst), gate)
        adj = adj + adj.t() + torch.eye(self.num_nodes)
        d = adj.sum(1).rsqrt()
        return d[:, None] * adj * d[None, :]

    def forward(self, x):
        h = F.relu(self.adj @ self.lin1(x))
        return self.adj @ self.lin2(h)


x, y, edges = make_graph()
train_mask = torch.rand(len(y)) < 0.5

model = GatedGCN(edges, len(y), x.shape[1], 16, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)

for epoch in range(60):
    model.train()
    out = model(x)
    loss = F.cross_entropy(out[train_mask], y[train_mask])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        acc = (out.argmax(1) == y)[~train_mask].float().mean()
        print(f"epoch {epoch:02d}  loss {loss.item():.4f}  test acc {acc.item():.3f}")

with torch.no_grad():
    gate = torch.sigmoid(model.edge_logit)
    same = y[edges[0]] == y[edges[1]]
    print(f"mean gate: inside {gate[same].mean().item():.3f}, across {gate[~same].mean().item():.3f}")
