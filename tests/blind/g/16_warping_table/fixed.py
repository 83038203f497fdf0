"""Fit a prototype and a feature map with which gestures of different speed align (dynamic time warping)."""
import torch
import torch.nn as nn


def alignment_cost(distances):
    """Cost of the best path through a table of pairwise distances."""
    n, m = distances.shape
    far = torch.tensor(1e6)
    table = {(i, 0): far for i in range(n + 1)} | {(0, j): far for j in range(m + 1)}
    table[0, 0] = torch.tensor(0.0)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = torch.minimum(torch.minimum(table[i - 1, j], table[i, j - 1]), table[i - 1, j - 1])
            table[i, j] = distances[i - 1, j - 1] + best
    return table[n, m] / (n + m)


def gestures(count, generator):
    """The same movement at different speeds, with noise, in a turned coordinate system."""
    turn = torch.tensor([[0.8, 0.6], [-0.6, 0.8]])
    for _ in range(count):
        length = int(torch.randint(7, 11, (), generator=generator))
        t = torch.linspace(0, 1, length) ** (0.7 + 0.6 * torch.rand((), generator=generator))
        path = torch.stack([torch.sin(5 * t), t], 1)
        yield path @ turn + 0.03 * torch.randn(length, 2, generator=generator)


class Prototype(nn.Module):
    def __init__(self, length=8):
        super().__init__()
        self.points = nn.Parameter(0.1 * torch.randn(length, 2))
        self.features = nn.Linear(2, 2)

    def forward(self, gesture):
        return alignment_cost(torch.cdist(self.features(gesture), self.points).pow(2))


def regular(features):
    """Keeps the feature map near a rotation, so that it cannot shrink everything to a point."""
    w = features.weight
    return (w @ w.T - torch.eye(2)).pow(2).sum()


torch.manual_seed(53)
data = list(gestures(12, torch.Generator().manual_seed(17)))
model = Prototype()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
for epoch in range(5):
    total = 0.0
    for gesture in data:
        cost = model(gesture)
        loss = cost + 0.1 * regular(model.features)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += cost.item() / len(data)
    print(f"epoch {epoch}: alignment cost {total:.4f}")
