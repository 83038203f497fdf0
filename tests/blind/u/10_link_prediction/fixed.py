"""Link prediction: a two-layer GCN encoder and an edge decoder, trained jointly on mini-batches of edges."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def community_graph(n, groups, gen):
    label = torch.arange(n) % groups
    same = label[:, None] == label[None, :]
    prob = torch.where(same, torch.tensor(0.35), torch.tensor(0.03))
    upper = torch.triu(torch.rand(n, n, generator=gen) < prob, diagonal=1)
    x = F.one_hot(label, groups).float() + 0.8 * torch.randn(n, groups, generator=gen)
    x = torch.cat([x, torch.randn(n, 6, generator=gen)], 1)
    return x, upper.nonzero()


def normalized_adjacency(n, edges):
    adj = torch.eye(n)
    adj[edges[:, 0], edges[:, 1]] = 1.0
    adj[edges[:, 1], edges[:, 0]] = 1.0
    d = adj.sum(1).rsqrt()
    return d[:, None] * adj * d[None, :]


class GCN(nn.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.lin1 = nn.Linear(n_in, n_hidden)
        self.lin2 = nn.Linear(n_hidden, n_out)

    def forward(self, x, adj):
        h = F.relu(adj @ self.lin1(x))
        return adj @ self.lin2(h)


class EdgeDecoder(nn.Module):
    def __init__(self, n_in, n_hidden=16):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(n_in, n_hidden), nn.ReLU(), nn.Linear(n_hidden, 1))

    def forward(self, z, pairs):
        return self.mlp(z[pairs[:, 0]] * z[pairs[:, 1]]).squeeze(1)


class LinkTrainer:
    def __init__(self, opt):
        self.opt = opt
        self.gen = torch.Generator().manual_seed(opt.seed)
        self.x, edges = community_graph(opt.nodes, 4, self.gen)
        edges = edges[torch.randperm(len(edges), generator=self.gen)]
        cut = int(0.85 * len(edges))
        self.train_edges, self.test_edges = edges[:cut], edges[cut:]
        self.adj = normalized_adjacency(opt.nodes, self.train_edges)
        self.encoder = GCN(self.x.size(1), 32, 16)
        self.decoder = EdgeDecoder(16)
        params = list(self.encoder.parameters()) + list(self.decoder.parameters())
        self.optimizer = torch.optim.Adam(params, lr=opt.lr)

    def embed(self):
        return self.encoder(self.x, self.adj)

    def negatives(self, n):
        return torch.randint(0, self.opt.nodes, (n, 2), generator=self.gen)

    def edge_loss(self, z, pos):
        pairs = torch.cat([pos, self.negatives(len(pos))])
        target = torch.cat([torch.ones(len(pos)), torch.zeros(len(pos))])
        return F.binary_cross_entropy_with_logits(self.decoder(z, pairs), target)

    def run_epoch(self):
        total, batches = 0.0, 0
        order = torch.randperm(len(self.train_edges), generator=self.gen)
        for idx in order.split(self.opt.batch):
            z = self.embed()
            loss = self.edge_loss(z, self.train_edges[idx])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
            batches += 1
        return total / batches

    @torch.no_grad()
    def evaluate(self):
        z = self.embed()
        pos = self.decoder(z, self.test_edges)
        neg = self.decoder(z, torch.randint(0, self.opt.nodes, (400, 2), generator=self.gen))
        return (pos[:, None] > neg[None, :]).float().mean().item()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=80)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=4)
    opt = parser.parse_args()
    torch.manual_seed(opt.seed)
    trainer = LinkTrainer(opt)
    for epoch in range(opt.epochs):
        loss = trainer.run_epoch()
        print(f"epoch {epoch:2d} loss {loss:.4f} auc {trainer.evaluate():.3f}")
