"""Two-task recommender: will the user click, and which rating will they give.

The user/item tower is shared. For each batch the gradients of the two losses
are both taken at the current weights and add up in the tower; the tower and
the two heads have optimizers of their own, each of which makes one step per
batch with those gradients.
"""
from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Config:
    users: int = 12
    items: int = 15
    dim: int = 8
    hidden: int = 32
    batch: int = 128
    steps: int = 120
    tower_lr: float = 1e-2
    head_lr: float = 1e-2
    seed: int = 1207


class Tower(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.user = nn.Embedding(cfg.users, cfg.dim)
        self.item = nn.Embedding(cfg.items, cfg.dim)
        self.mlp = nn.Sequential(
            nn.Linear(3 * cfg.dim, cfg.hidden), nn.ReLU(),
            nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(),
        )

    def forward(self, u, i):
        eu, ei = self.user(u), self.item(i)
        return self.mlp(torch.cat([eu, ei, eu * ei], dim=1))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.tower = Tower(cfg)
        self.click_head = nn.Linear(cfg.hidden, 1)
        self.rating_head = nn.Linear(cfg.hidden, 1)
        self.tower_opt = torch.optim.Adam(self.tower.parameters(), lr=cfg.tower_lr)
        self.click_opt = torch.optim.Adam(self.click_head.parameters(), lr=cfg.head_lr)
        self.rating_opt = torch.optim.Adam(self.rating_head.parameters(), lr=cfg.head_lr)

        self.taste = torch.randn(cfg.users, 3)
        self.style = torch.randn(cfg.items, 3)

    def sample(self):
        u = torch.randint(self.cfg.users, (self.cfg.batch,))
        i = torch.randint(self.cfg.items, (self.cfg.batch,))
        affinity = (self.taste[u] * self.style[i]).sum(1)
        click = (affinity > 0).float()
        rating = 3.0 + affinity.clamp(-2, 2)
        return u, i, click, rating

    def zero_grad(self):
        for opt in (self.tower_opt, self.click_opt, self.rating_opt):
            opt.zero_grad()

    def train_step(self):
        u, i, click, rating = self.sample()
        h = self.tower(u, i)
        click_loss = F.binary_cross_entropy_with_logits(self.click_head(h).squeeze(1), click)
        rating_loss = F.mse_loss(3.0 + self.rating_head(h).squeeze(1), rating)

        self.zero_grad()
        click_loss.backward(retain_graph=True)
        self.click_opt.step()
        self.tower_opt.step()
        rating_loss.backward()
        self.rating_opt.step()
        return click_loss.item(), rating_loss.item()

    def fit(self):
        for step in range(self.cfg.steps):
            click_loss, rating_loss = self.train_step()
            if step % 15 == 0:
                print(f"step {step:3d}  click {click_loss:.4f}  rating {rating_loss:.4f}")


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(cfg.seed)
    Trainer(cfg).fit()
