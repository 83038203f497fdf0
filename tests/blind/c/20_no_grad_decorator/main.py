"""Contrastive pretraining, then a linear probe; both use the same method."""
import torch
from torch import nn
import torch.nn.functional as F


class Views:
    def __init__(self, seed):
        self.random = torch.Generator().manual_seed(seed)
        self.items = torch.randn(24, 9, generator=self.random)
        self.labels = (self.items[:, 0] > 0).long()

    def pairs(self, size):
        for part in torch.randperm(len(self.items), generator=self.random).split(size):
            noise = torch.randn(2, len(part), 9, generator=self.random) * 0.1
            yield self.items[part] + noise[0], self.items[part] + noise[1]


class Contrastive(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(9, 16), nn.ReLU(), nn.Linear(16, 8))
        self.projector = nn.Linear(8, 4)

    @torch.no_grad()
    def features(self, x):
        return self.backbone(x)

    def embed(self, x):
        return F.normalize(self.projector(self.features(x)), dim=-1)


def nt_xent(one, other, temperature=0.2):
    scores = one @ other.t() / temperature
    wanted = torch.arange(len(one))
    return (F.cross_entropy(scores, wanted) + F.cross_entropy(scores.t(), wanted)) / 2


def pretrain(model, views, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        for one, other in views.pairs(8):
            loss = nt_xent(model.embed(one), model.embed(other))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"pretrain {epoch}: {loss.item():.4f}")


def probe(model, views, steps):
    layer = nn.Linear(8, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    fixed = model.features(views.items).detach()
    for _ in range(steps):
        loss = F.cross_entropy(layer(fixed), views.labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"probe: {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(20)
    views, model = Views(200), Contrastive()
    pretrain(model, views, 4)
    probe(model, views, 6)
