import torch
import torch.nn as nn

from memory import CompressiveMemory


class Layer(nn.Module):
    def __init__(self, dim, heads, memory):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.memory = memory

    def forward(self, x):
        past = self.memory.read()
        keys = torch.cat(past + [x], dim=1)
        n, total = x.size(1), keys.size(1)
        mask = torch.ones(n, total, dtype=torch.bool).triu(total - n + 1)
        h = self.norm1(keys)
        out, _ = self.attn(self.norm1(x), h, h, attn_mask=mask, need_weights=False)
        y = x + out
        y = y + self.ff(self.norm2(y))
        aux = self.memory.write(x)
        return y, aux


class CompressiveLM(nn.Module):
    def __init__(self, vocab, dim=16, depth=2, heads=2, mem_len=8, cmem_len=6, rate=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList([
            Layer(dim, heads, CompressiveMemory(dim, mem_len, cmem_len, rate)) for _ in range(depth)])
        self.head = nn.Linear(dim, vocab)

    def reset_memory(self):
        for layer in self.layers:
            layer.memory.reset()

    def forward(self, tokens):
        h = self.embed(tokens)
        aux_losses = []
        for layer in self.layers:
            h, aux = layer(h)
            aux_losses.append(aux)
        return self.head(h), torch.stack(aux_losses).mean()
