"""Recipe recommender: user vector x (recipe vector + pooled ingredient vectors).

All three tables are trained from scratch.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Sizes:
    users: int = 20
    recipes: int = 30
    ingredients: int = 15
    dim: int = 8


class RecipeTower(nn.Module):
    def __init__(self, s, contents):
        super().__init__()
        self.recipe = nn.Embedding(s.recipes, s.dim)
        self.ingredient = nn.EmbeddingBag(s.ingredients, s.dim, mode="mean")
        self.mix = nn.Linear(2 * s.dim, s.dim)
        self.register_buffer("contents", contents)

    def pooled(self, ids):
        return self.ingredient(self.contents[ids])

    def forward(self, ids):
        return self.mix(torch.cat([self.recipe(ids), self.pooled(ids)], dim=-1))


class Recommender(nn.Module):
    def __init__(self, s, contents):
        super().__init__()
        self.user = nn.Embedding(s.users, s.dim)
        self.item = RecipeTower(s, contents)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1)


def clicks(s, contents, n=240):
    taste = torch.randn(s.users, s.ingredients)
    u = torch.randint(0, s.users, (n,))
    i = torch.randint(0, s.recipes, (n,))
    liked = taste[u].gather(1, contents[i]).mean(1) > 0
    return u, i, liked.float()


def fit(model, u, i, liked, epochs=3, batch=60):
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(epochs):
        for idx in torch.randperm(len(u)).split(batch):
            loss = F.binary_cross_entropy_with_logits(model(u[idx], i[idx]), liked[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(20)
    sizes = Sizes()
    contents = torch.randint(0, sizes.ingredients, (sizes.recipes, 4))
    fit(Recommender(sizes, contents), *clicks(sizes, contents))
