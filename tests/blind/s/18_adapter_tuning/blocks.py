"""A small decoder-only model with bottleneck adapters."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class Adapter(nn.Module):
    def __init__(self, dim, rank):
        super().__init__()
        self.down = nn.Linear(dim, rank, bias=False)
        self.up = nn.Linear(rank, dim, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return x + self.up(F.gelu(self.down(x)))


class Block(nn.Module):
    def __init__(self, dim, heads, rank):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.adapter = Adapter(dim, rank)

    def forward(self, x, mask):
        h = self.norm1(x)
        a, _ = self.attn(h, h, h, attn_mask=mask, need_weights=False)
        x = x + a
        x = x + self.mlp(self.norm2(x))
        return self.adapter(x)


class Decoder(nn.Module):
    def __init__(self, vocab, dim=32, heads=4, depth=3, rank=8, max_len=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.randn(max_len, dim) * 0.1)
        self.blocks = nn.ModuleList(Block(dim, heads, rank) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.checkpointing = None

    def enable_checkpointing(self, **kwargs):
        self.checkpointing = kwargs

    def forward(self, tokens):
        length = tokens.shape[1]
        mask = torch.full((length, length), float("-inf")).triu(1)
        x = self.embed(tokens) + self.pos[:length]
        for block in self.blocks:
            if self.training and self.checkpointing is not None:
                x = checkpoint(block, x, mask, **self.checkpointing)
            else:
                x = block(x, mask)
        return self.norm(x) @ self.embed.weight.t()


def adapters_only(model):
    """Freeze everything but the adapters; returns what is left to train."""
    chosen = []
    for name, p in model.named_parameters():
        p.requires_grad_("adapter" in name)
        if p.requires_grad:
            chosen.append(p)
    return chosen
