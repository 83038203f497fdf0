"""Recipe recommendations with LightGCN and the BPR loss."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_users: int = 60
    n_recipes: int = 90
    dim: int = 16
    n_layers: int = 2
    lr: float = 0.02
    decay: float = 1e-4
    batch_size: int = 128
    epochs: int = 8
    seed: int = 2020


def make_likes(cfg):
    taste = torch.randn(cfg.n_users, 4)
    style = torch.randn(cfg.n_recipes, 4)
    prob = torch.sigmoid(taste @ style.t() - 1.5)
    return torch.bernoulli(prob)


class LightGCN(nn.Module):
    def __init__(self, cfg, likes):
        super().__init__()
        self.cfg = cfg
        self.user = nn.Embedding(cfg.n_users, cfg.dim)
        self.recipe = nn.Embedding(cfg.n_recipes, cfg.dim)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.recipe.weight, std=0.1)
        self.register_buffer("adj", self.normalized_adjacency(likes))

    @staticmethod
    def normalized_adjacency(likes):
        n_users, n_recipes = likes.shape
        size = n_users + n_recipes
        full = torch.zeros(size, size)
        full[:n_users, n_users:] = likes
        full[n_users:, :n_users] = likes.t()
        scale = full.sum(dim=1).clamp(min=1).rsqrt()
        return (scale[:, None] * full * scale[None, :]).to_sparse()

    def propagate(self):
        x = torch.cat([self.user.weight, self.recipe.weight])
        layers = [x]
        for _ in range(self.cfg.n_layers):
            x = torch.sparse.mm(self.adj, x)
            layers.append(x)
        out = torch.stack(layers).mean(dim=0)
        return out.split([self.cfg.n_users, self.cfg.n_recipes])


class BPRTrainer:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        self.likes = make_likes(cfg)
        self.pairs = self.likes.nonzero()
        self.model = LightGCN(cfg, self.likes)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def batches(self):
        order = self.pairs[torch.randperm(len(self.pairs))]
        for chunk in order.split(self.cfg.batch_size):
            users, liked = chunk.t()
            other = torch.randint(0, self.cfg.n_recipes, liked.shape)
            yield users, liked, other

    def bpr(self, user_vec, recipe_vec, users, liked, other):
        u = user_vec[users]
        gap = (u * (recipe_vec[liked] - recipe_vec[other])).sum(dim=1)
        reg = (self.model.user(users).pow(2).sum()
               + self.model.recipe(liked).pow(2).sum()
               + self.model.recipe(other).pow(2).sum()) / len(users)
        return F.softplus(-gap).mean() + self.cfg.decay * reg

    def train_epoch(self):
        self.model.train()
        total, seen = 0.0, 0
        for users, liked, other in self.batches():
            user_vec, recipe_vec = self.model.propagate()
            loss = self.bpr(user_vec, recipe_vec, users, liked, other)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(users)
            seen += len(users)
        return total / seen

    @torch.no_grad()
    def hit_rate(self, k=10):
        self.model.eval()
        user_vec, recipe_vec = self.model.propagate()
        top = (user_vec @ recipe_vec.t()).topk(k, dim=1).indices
        return self.likes.gather(1, top).mean().item()

    def fit(self):
        for epoch in range(self.cfg.epochs):
            loss = self.train_epoch()
            print(f"epoch {epoch + 1}: bpr {loss:.4f}  precision@10 {self.hit_rate():.3f}")


if __name__ == "__main__":
    BPRTrainer(Config()).fit()
