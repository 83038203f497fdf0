"""Tiny transformer encoder whose attention drops whole keys during training."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Config:
    vocab: int = 16
    width: int = 16
    heads: int = 2
    layers: int = 2
    length: int = 6
    key_drop: float = 0.15
    steps: int = 8
    lr: float = 3e-3


class SelfAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.key_drop = cfg.key_drop
        self.qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.proj = nn.Linear(cfg.width, cfg.width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        att = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
        att = F.softmax(att, dim=-1)
        if self.training and self.key_drop > 0:
            keep = (torch.rand(b, 1, 1, t) >= self.key_drop).to(att.dtype)
            att *= keep / (1 - self.key_drop)
        y = (att @ v).transpose(1, 2).reshape(b, t, c)
        return self.proj(y)


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(cfg.width), nn.LayerNorm(cfg.width)
        self.attn = SelfAttention(cfg)
        self.mlp = nn.Sequential(nn.Linear(cfg.width, 32), nn.GELU(), nn.Linear(32, cfg.width))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok = nn.Embedding(cfg.vocab, cfg.width)
        self.pos = nn.Parameter(torch.zeros(1, cfg.length, cfg.width))
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.layers))
        self.head = nn.Linear(cfg.width, cfg.vocab)

    def forward(self, tokens):
        x = self.tok(tokens) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = Encoder(cfg)
        decay = [p for p in self.model.parameters() if p.dim() > 1]
        rest = [p for p in self.model.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.AdamW(
            [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, max_lr=cfg.lr, total_steps=cfg.steps + 1)

    def fit(self):
        self.model.train()
        for step in range(self.cfg.steps):
            tokens = torch.randint(0, self.cfg.vocab, (4, self.cfg.length))
            logits = self.model(tokens)
            loss = F.cross_entropy(logits.flatten(0, 1), tokens.flip(1).flatten())
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.scheduler.step()
            print(f"step {step}: loss {loss.item():.4f} lr {self.scheduler.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    torch.manual_seed(23)
    Trainer(Config()).fit()
