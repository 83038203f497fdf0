"""Two towers rank articles for readers; the article tower reads a bag of words."""
import torch
from torch import nn

from towers_fixed import ArticleTower, ReaderTower


class Ranker(nn.Module):
    def __init__(self, words, readers, size=6):
        super().__init__()
        self.article = ArticleTower(words, size)
        self.reader = ReaderTower(readers, size)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, reader, article):
        return (self.reader(reader) * self.article(article)).sum(-1) + self.bias


def clicks(random, count, words=15, readers=7):
    for _ in range(count):
        reader = torch.randint(readers, (12,), generator=random)
        article = (torch.rand(12, words, generator=random) < 0.3).float()
        clicked = (article[torch.arange(12), reader] > 0).float()
        yield reader, article, clicked


def train(ranker, epochs, random):
    optimizer = torch.optim.Adagrad(ranker.parameters(), lr=0.1)
    for epoch in range(epochs):
        total = 0.0
        for reader, article, clicked in clicks(random, 5):
            loss = nn.functional.binary_cross_entropy_with_logits(ranker(reader, article), clicked)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / 5:.4f}")


if __name__ == "__main__":
    torch.manual_seed(19)
    train(Ranker(15, 7), 3, torch.Generator().manual_seed(190))
