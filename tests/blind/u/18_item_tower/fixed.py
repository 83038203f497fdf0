"""Two-tower retrieval: users and items meet in one embedding space, softmax over the whole catalogue."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    users: int = 80
    items: int = 60
    item_features: int = 20
    dim: int = 16
    batch: int = 32
    epochs: int = 4
    refresh_every: int = 5
    temperature: float = 0.2
    lr: float = 5e-3
    seed: int = 3


class UserTower(nn.Module):
    def __init__(self, n, dim):
        super().__init__()
        self.table = nn.Embedding(n, dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, ids):
        return F.normalize(self.out(torch.relu(self.table(ids))), dim=-1)


class ItemTower(nn.Module):
    def __init__(self, n_features, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_features, 32), nn.ReLU(), nn.Linear(32, dim))

    def forward(self, features):
        return F.normalize(self.net(features), dim=-1)


def make_interactions(cfg):
    gen = torch.Generator().manual_seed(cfg.seed)
    features = torch.randn(cfg.items, cfg.item_features, generator=gen)
    taste = torch.randn(cfg.users, cfg.item_features, generator=gen)
    probs = torch.softmax(taste @ features.T, dim=-1)
    picked = torch.multinomial(probs, 4, replacement=True, generator=gen)
    users = torch.arange(cfg.users).repeat_interleave(4)
    return features, users, picked.flatten()


class RetrievalTrainer:
    def __init__(self, cfg, features):
        self.cfg = cfg
        self.features = features
        self.user_tower = UserTower(cfg.users, cfg.dim)
        self.item_tower = ItemTower(cfg.item_features, cfg.dim)
        params = [*self.user_tower.parameters(), *self.item_tower.parameters()]
        self.optimizer = torch.optim.Adam(params, lr=cfg.lr)
        self.catalogue = None
        self.step_count = 0

    def item_vectors(self):
        return self.item_tower(self.features)

    def step(self, users, items):
        vectors = self.item_vectors()
        scores = self.user_tower(users) @ vectors.T / self.cfg.temperature
        loss = F.cross_entropy(scores, items)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.step_count += 1
        return loss.item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    features, users, items = make_interactions(cfg)
    trainer = RetrievalTrainer(cfg, features)
    order = torch.Generator().manual_seed(cfg.seed + 1)
    for epoch in range(cfg.epochs):
        perm = torch.randperm(len(users), generator=order)
        losses = [trainer.step(users[idx], items[idx]) for idx in perm.split(cfg.batch)]
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
