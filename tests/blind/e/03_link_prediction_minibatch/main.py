"""Link prediction on a two-community graph. Adam makes a step after every mini-batch of edges."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--nodes", type=int, default=60)
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--edge-batch", type=int, default=64)
parser.add_argument("--lr", type=float, default=0.005)
args = parser.parse_args()

torch.manual_seed(3)


def build_graph(n):
    community = torch.arange(n) % 2
    same = community[:, None] == community[None, :]
    prob = torch.where(same, 0.35, 0.02)
    upper = torch.triu(torch.rand(n, n) < prob, diagonal=1)
    adj = (upper | upper.T).float()
    return adj, upper.nonzero(), community


def normalize(adj):
    adj = adj + torch.eye(len(adj))
    d = adj.sum(1).rsqrt()
    return d[:, None] * adj * d[None, :]


class GraphEncoder(nn.Module):
    def __init__(self, in_dim, hidden, out_dim):
        super().__init__()
        self.w1 = nn.Linear(in_dim, hidden)
        self.w2 = nn.Linear(hidden, out_dim)

    def forward(self, a_hat, x):
        h = F.relu(a_hat @ self.w1(x))
        return a_hat @ self.w2(h)


def score(z, pairs):
    return (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(dim=1)


def negatives(count, n):
    return torch.randint(0, n, (count, 2))


adj, edges, community = build_graph(args.nodes)
a_hat = normalize(adj)
features = torch.randn(args.nodes, 8) + community[:, None].float()
held_out, train_edges = edges[:60], edges[60:]
encoder = GraphEncoder(8, 32, 16)
optimizer = torch.optim.Adam(encoder.parameters(), lr=args.lr, weight_decay=1e-4)
print(f"{len(train_edges)} training edges, {len(held_out)} held out")

for epoch in range(args.epochs):
    encoder.train()
    order = torch.randperm(len(train_edges))
    running = 0.0
    z = encoder(a_hat, features)
    for start in range(0, len(order), args.edge_batch):
        pos = train_edges[order[start:start + args.edge_batch]]
        neg = negatives(len(pos), args.nodes)
        logits = torch.cat([score(z, pos), score(z, neg)])
        target = torch.cat([torch.ones(len(pos)), torch.zeros(len(neg))])
        loss = F.binary_cross_entropy_with_logits(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(pos)
    encoder.eval()
    with torch.no_grad():
        z = encoder(a_hat, features)
        margin = score(z, held_out).mean() - score(z, negatives(200, args.nodes)).mean()
    print(f"epoch {epoch + 1}: loss {running / len(order):.4f}  margin {margin.item():.3f}")
