"""Node classification on a small community graph with an implicit (equilibrium) graph layer."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from equilibrium import Cell, Equilibrium


@dataclass
class Setup:
    communities: int = 3
    size: int = 14
    dim: int = 12
    labelled: int = 6
    epochs: int = 40
    lr: float = 1e-2
    seed: int = 17


def community_graph(s):
    g = torch.Generator().manual_seed(s.seed)
    n = s.communities * s.size
    label = torch.arange(s.communities).repeat_interleave(s.size)
    same = label[:, None] == label[None]
    chance = torch.where(same, 0.35, 0.04)
    a = (torch.rand(n, n, generator=g) < chance).float().triu(1)
    a = a + a.t() + torch.eye(n)
    d = a.sum(1).rsqrt()
    features = 1.5 * F.one_hot(label, 8).float() + 0.8 * torch.randn(n, 8, generator=g)
    return d[:, None] * a * d[None], features, label


class ImplicitGNN(nn.Module):
    def __init__(self, features, dim, classes, adjacency):
        super().__init__()
        self.encode = nn.Linear(features, dim)
        self.layer = Equilibrium(Cell(adjacency.shape[0], dim, adjacency))
        self.decode = nn.Linear(dim, classes)

    def forward(self, x):
        return self.decode(self.layer(self.encode(x)))


def main():
    s = Setup()
    torch.manual_seed(s.seed)
    adjacency, x, label = community_graph(s)
    train = torch.cat([torch.arange(k * s.size, k * s.size + s.labelled) for k in range(s.communities)])
    rest = torch.ones(len(label), dtype=torch.bool).index_fill(0, train, False)

    model = ImplicitGNN(x.shape[1], s.dim, s.communities, adjacency)
    optimizer = torch.optim.Adam(model.parameters(), lr=s.lr)
    for epoch in range(s.epochs):
        loss = F.cross_entropy(model(x)[train], label[train])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 8 == 0 or epoch == s.epochs - 1:
            with torch.no_grad():
                hit = (model(x).argmax(1) == label)[rest].float().mean().item()
            print(f"epoch {epoch:2d}  loss {loss.item():.4f}  unlabelled accuracy {hit:.3f}  "
                  f"iterations {model.layer.forward_iters}/{model.layer.backward_iters}")


if __name__ == "__main__":
    main()
