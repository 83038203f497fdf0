"""Causal block with a compressive memory that is handed from segment to segment."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class ModelConfig:
    vocab: int = 24
    width: int = 12
    segment: int = 6


class MemoryAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.q = nn.Linear(cfg.width, cfg.width, bias=False)
        self.k = nn.Linear(cfg.width, cfg.width, bias=False)
        self.v = nn.Linear(cfg.width, cfg.width, bias=False)
        self.gate = nn.Parameter(torch.zeros(1))
        self.scale = cfg.width ** -0.5

    def _retrieve(self, q, memory, norm):
        sigma_q = F.elu(q) + 1.0
        return (sigma_q @ memory) / (sigma_q @ norm.unsqueeze(-1) + 1e-6)

    def _update_memory(self, k, v, memory, norm):
        sigma_k = F.elu(k) + 1.0
        memory = memory + sigma_k.transpose(-2, -1) @ v
        norm = norm + sigma_k.sum(dim=-2)
        return memory, norm

    def forward(self, x, memory, norm):
        q, k, v = self.q(x), self.k(x), self.v(x)
        recalled = self._retrieve(q, memory, norm)
        length = x.shape[1]
        mask = torch.full((length, length), float("-inf")).triu(1)
        local = torch.softmax(q @ k.transpose(-2, -1) * self.scale + mask, dim=-1) @ v
        memory, norm = self._update_memory(k, v, memory, norm)
        g = torch.sigmoid(self.gate)
        return g * recalled + (1 - g) * local, memory, norm


class SegmentLM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.emb = nn.Embedding(cfg.vocab, cfg.width)
        self.attn = MemoryAttention(cfg)
        self.norm = nn.LayerNorm(cfg.width)
        self.head = nn.Linear(cfg.width, cfg.vocab)

    def initial_memory(self, batch):
        width = self.cfg.width
        return torch.zeros(batch, width, width), torch.full((batch, width), 1e-3)

    def forward(self, tokens, memory, norm):
        x = self.emb(tokens)
        y, memory, norm = self.attn(x, memory, norm)
        return self.head(self.norm(x + y)), memory, norm
