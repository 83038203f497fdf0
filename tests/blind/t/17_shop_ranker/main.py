"""Graph recommender (light graph convolution + BPR ranking loss) on toy shop data."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_users: int = 60
    n_items: int = 40
    dim: int = 16
    layers: int = 2
    epochs: int = 5
    batch_size: int = 128
    lr: float = 0.02
    reg: float = 1e-4


def make_interactions(cfg):
    g = torch.Generator().manual_seed(11)
    user_taste = torch.randn(cfg.n_users, 4, generator=g)
    item_taste = torch.randn(cfg.n_items, 4, generator=g)
    scores = user_taste @ item_taste.t()
    top = scores.topk(10, dim=1).indices
    users = torch.arange(cfg.n_users).repeat_interleave(10)
    return users, top.reshape(-1)


def normalized_adjacency(users, items, cfg):
    n = cfg.n_users + cfg.n_items
    adj = torch.zeros(n, n)
    adj[users, items + cfg.n_users] = 1.0
    adj = adj + adj.t()
    deg = adj.sum(1).clamp(min=1.0).rsqrt()
    return deg[:, None] * adj * deg[None, :]


class LightGraphRec(nn.Module):
    def __init__(self, cfg, adj):
        super().__init__()
        self.cfg = cfg
        self.register_buffer("adj", adj)
        self.embedding = nn.Embedding(cfg.n_users + cfg.n_items, cfg.dim)
        self.layer_weight = nn.Parameter(torch.zeros(cfg.layers + 1))
        nn.init.normal_(self.embedding.weight, std=0.1)

    def propagate(self):
        x = self.embedding.weight
        mix = F.softmax(self.layer_weight, dim=0)
        out = mix[0] * x
        for k in range(self.cfg.layers):
            x = self.adj @ x
            out = out + mix[k + 1] * x
        return out.split([self.cfg.n_users, self.cfg.n_items])


def bpr_loss(user, pos, neg):
    diff = (user * pos).sum(-1) - (user * neg).sum(-1)
    return -F.logsigmoid(diff).mean()


def train(cfg):
    torch.manual_seed(0)
    users, items = make_interactions(cfg)
    model = LightGraphRec(cfg, normalized_adjacency(users, items, cfg))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)

    for epoch in range(cfg.epochs):
        order = torch.randperm(len(users))
        epoch_loss, steps = 0.0, 0
        user_emb, item_emb = model.propagate()
        for start in range(0, len(order), cfg.batch_size):
            idx = order[start:start + cfg.batch_size]
            u, i = users[idx], items[idx]
            j = torch.randint(0, cfg.n_items, (len(idx),))
            loss = bpr_loss(user_emb[u], item_emb[i], item_emb[j])
            loss = loss + cfg.reg * model.embedding(u).pow(2).sum(-1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item()
            steps += 1
        print(f"epoch {epoch}  bpr {epoch_loss / steps:.4f}")

    with torch.no_grad():
        user_emb, item_emb = model.propagate()
        recommended = (user_emb @ item_emb.t()).topk(10, dim=1).indices
        truth = items.reshape(cfg.n_users, 10)
        hit = (recommended[:, :, None] == truth[:, None, :]).any(-1).float().mean()
    print(f"recall@10 {hit:.3f}")


if __name__ == "__main__":
    train(Config())
