import torch
from torch import nn


class Pooling(nn.Module):
    """Attention with one learned query; keeps its maps, for an animation after the training."""

    def __init__(self, width):
        super().__init__()
        self.query = nn.Parameter(torch.randn(width) / width ** 0.5)
        self.key = nn.Linear(width, width)
        self.maps = []

    def forward(self, x):
        scores = self.key(x) @ self.query
        weights = scores.softmax(-1)
        self.maps.append(weights)
        return (weights[..., None] * x).sum(1)


class Reader(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.mark = nn.Linear(1, width)
        self.mix = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.pool = Pooling(width)
        self.out = nn.Linear(width, vocab)

    def forward(self, tokens, marks):
        x = self.embed(tokens) + self.mark(marks[..., None])
        return self.out(self.pool(x + self.mix(x)))
