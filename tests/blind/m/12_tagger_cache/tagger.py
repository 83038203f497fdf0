import torch
from torch import nn


class DistanceBias(nn.Module):
    """A small network turns the distance of two tokens into an attention bias."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1, bias=False))

    def forward(self, length):
        place = torch.arange(length, dtype=torch.float32)
        gap = (place[None, :] - place[:, None]) / 8
        return self.net(torch.stack([gap, gap.abs()], dim=-1)).squeeze(-1)


class Tagger(nn.Module):
    """One attention layer.

    The bias tables are kept per length, as inference asks for the same lengths
    again and again.  After a change of the weights call `forget_tables`.
    """

    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(2 * width, 2)
        self.bias = DistanceBias()
        self._tables = {}

    def forget_tables(self):
        self._tables.clear()

    def table(self, length):
        if length not in self._tables:
            self._tables[length] = self.bias(length)
        return self._tables[length]

    def forward(self, tokens):
        x = self.embed(tokens)
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5 + self.table(tokens.shape[1])
        return self.out(torch.cat([x, scores.softmax(-1) @ v], dim=-1))
