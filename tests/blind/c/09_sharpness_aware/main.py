"""Train with sharpness-aware minimization (two steps an update)."""
import torch
from torch import nn

from sam import SAM


class Tagger(nn.Module):
    def __init__(self, vocabulary, tags, size=10):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, size)
        self.mix = nn.Conv1d(size, size, 3, padding=1)
        self.out = nn.Linear(size, tags)

    def forward(self, words):
        x = self.embed(words)
        x = x + torch.tanh(self.mix(x.transpose(1, 2))).transpose(1, 2)
        return self.out(x)


def sentences(count, random, vocabulary=20, tags=4):
    for _ in range(count):
        words = torch.randint(vocabulary, (5, 8), generator=random)
        yield words, words % tags


def train_epoch(model, optimizer, batches):
    meter = []
    for words, tags in batches:
        scores = model(words)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten())
        loss.backward()
        optimizer.ascend()
        loss.backward()
        optimizer.descend()
        meter.append(loss.item())
    return sum(meter) / len(meter)


if __name__ == "__main__":
    torch.manual_seed(9)
    model = Tagger(20, 4)
    optimizer = SAM(model.parameters(), rho=0.05, lr=0.1)
    random = torch.Generator().manual_seed(99)
    for epoch in range(2):
        print(epoch, round(train_epoch(model, optimizer, sentences(5, random)), 4))
