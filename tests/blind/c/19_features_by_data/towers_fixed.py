import torch
from torch import nn


class ArticleTower(nn.Module):
    def __init__(self, words, size):
        super().__init__()
        self.words = nn.Linear(words, size, bias=False)
        self.norm = nn.LayerNorm(size)

    def forward(self, bag):
        summed = self.words(bag)
        counts = bag.sum(1, keepdim=True).clamp(min=1)
        return self.norm(summed / counts)


class ReaderTower(nn.Module):
    def __init__(self, readers, size):
        super().__init__()
        self.table = nn.Embedding(readers, size)
        self.project = nn.Linear(size, size)

    def forward(self, reader):
        return torch.tanh(self.project(self.table(reader)))
