import torch
from torch import nn


class MemoryAttention(nn.Module):
    """Self-attention whose keys and values also cover the previous segments."""

    def __init__(self, dim, heads, mem_len):
        super().__init__()
        self.heads = heads
        self.mem_len = mem_len
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, 2 * dim)
        self.proj = nn.Linear(dim, dim)
        self.past = None

    def clear(self):
        self.past = None

    def _split(self, t):
        b, n, d = t.shape
        return t.view(b, n, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, x):
        b, n, d = x.shape
        q = self._split(self.q(x))
        k, v = (self._split(t) for t in self.kv(x).chunk(2, dim=-1))
        if self.past is not None:
            k = torch.cat([self.past[0], k], dim=2)
            v = torch.cat([self.past[1], v], dim=2)
        self.past = (k[:, :, -self.mem_len:], v[:, :, -self.mem_len:])
        att = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        m = k.size(2)
        mask = torch.ones(n, m, dtype=torch.bool).tril(m - n)
        att = att.masked_fill(~mask, float("-inf")).softmax(dim=-1)
        return self.proj((att @ v).transpose(1, 2).reshape(b, n, d))


class Block(nn.Module):
    def __init__(self, dim, heads, mem_len):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = MemoryAttention(dim, heads, mem_len)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class SegmentLM(nn.Module):
    def __init__(self, vocab, dim=32, heads=2, depth=2, mem_len=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(Block(dim, heads, mem_len) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab)

    def clear_memory(self):
        for block in self.blocks:
            block.attn.clear()

    def forward(self, tokens):
        h = self.embed(tokens)
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h))
