"""Contrastive pre-training of paired sensor / caption vectors (CLIP style) on synthetic pairs."""
from dataclasses import dataclass
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_pairs: int = 256
    dim_a: int = 24
    dim_b: int = 18
    embed: int = 16
    batch: int = 64
    epochs: int = 10
    lr: float = 2e-3
    scale_lr: float = 5e-2
    max_scale: float = 100.0
    seed: int = 11


def make_pairs(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    latent = torch.randn(cfg.n_pairs, 8, generator=g)
    mix_a = torch.randn(8, cfg.dim_a, generator=g)
    mix_b = torch.randn(8, cfg.dim_b, generator=g)
    a = torch.tanh(latent @ mix_a) + 0.1 * torch.randn(cfg.n_pairs, cfg.dim_a, generator=g)
    b = torch.relu(latent @ mix_b) + 0.1 * torch.randn(cfg.n_pairs, cfg.dim_b, generator=g)
    return a, b


def tower(d_in, d_out):
    return nn.Sequential(nn.Linear(d_in, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, d_out))


class PairEncoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.tower_a = tower(cfg.dim_a, cfg.embed)
        self.tower_b = tower(cfg.dim_b, cfg.embed)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.2)))

    def forward(self, a, b):
        za = F.normalize(self.tower_a(a), dim=-1)
        zb = F.normalize(self.tower_b(b), dim=-1)
        scale = min(self.logit_scale.exp().item(), self.cfg.max_scale)
        return scale * za @ zb.t()


class SymmetricInfoNCE(nn.Module):
    def forward(self, logits):
        target = torch.arange(len(logits))
        return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))


def param_groups(model, cfg):
    scale, rest = [], []
    for name, p in model.named_parameters():
        (scale if name.endswith("logit_scale") else rest).append(p)
    return [
        {"params": rest, "lr": cfg.lr, "weight_decay": 1e-4},
        {"params": scale, "lr": cfg.scale_lr, "weight_decay": 0.0},
    ]


@torch.no_grad()
def recall_at_1(model, a, b):
    logits = model(a, b)
    return (logits.argmax(1) == torch.arange(len(a))).float().mean().item()


def batches(n, size, generator):
    order = torch.randperm(n, generator=generator)
    for i in range(0, n - size + 1, size):
        yield order[i:i + size]


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    a, b = make_pairs(cfg)
    model, loss_fn = PairEncoder(cfg), SymmetricInfoNCE()
    optimizer = torch.optim.AdamW(param_groups(model, cfg))
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=cfg.epochs)
    gen = torch.Generator().manual_seed(cfg.seed + 1)

    for epoch in range(cfg.epochs):
        running = 0.0
        steps = 0
        for idx in batches(cfg.n_pairs, cfg.batch, gen):
            optimizer.zero_grad(set_to_none=True)
            loss = loss_fn(model(a[idx], b[idx]))
            loss.backward()
            optimizer.step()
            running += loss.item()
            steps += 1
        scheduler.step()
        temp = 1 / model.logit_scale.exp().item()
        print(f"epoch {epoch + 1:2d}  loss {running / steps:.4f}  tau {temp:.4f}  "
              f"R@1 {recall_at_1(model, a, b):.3f}")


if __name__ == "__main__":
    main()
