"""Broken: the inner loop of MAML frees the graph on which the outer loss stands.

A model is to be adapted to a new task in a few steps. The inner step asks `autograd.grad` for gradients on the support
set and moves a copy of the weights; the outer loss is measured on the query set, and on the support set as well. But
`autograd.grad` frees what it walks, just as `backward()` does, and the outer backward needs the support loss again.
Look for an `autograd.grad` on something that is used later.
"""

import math

import torch
from torch import Tensor, nn
from torch.func import functional_call

Weights = dict[str, Tensor]


class Regressor(nn.Module):
    """A small network, to be adapted to one sine wave at a time."""

    def __init__(self, width: int = 40) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x: Tensor) -> Tensor:
        """One value for each position."""
        return self.layers(x)


def sine_task(points: int = 10) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A sine wave of random height and phase: support and query, positions and values."""
    height, phase = 0.5 + 2 * torch.rand(1), math.pi * torch.rand(1)
    support, query = 6 * torch.rand(points, 1) - 3, 6 * torch.rand(points, 1) - 3
    return support, height * torch.sin(support + phase), query, height * torch.sin(query + phase)


def adapt(weights: Weights, loss: Tensor, rate: float = 0.05) -> Weights:
    """One step down the support loss, as new weights; the old ones stay as they are."""
    gradients = torch.autograd.grad(loss, list(weights.values()))
    return {name: old - rate * step for (name, old), step in zip(weights.items(), gradients, strict=True)}


def train(updates: int, tasks: int = 8) -> None:
    """Weights from which one step leads far."""
    torch.manual_seed(0)
    model = Regressor()
    weights: Weights = dict(model.named_parameters())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.MSELoss()
    for update in range(updates):
        total = torch.zeros(())
        for _ in range(tasks):
            support_x, support_y, query_x, query_y = sine_task()
            support_loss = criterion(functional_call(model, weights, support_x), support_y)
            adapted = adapt(weights, support_loss)
            query_loss = criterion(functional_call(model, adapted, query_x), query_y)
            total = total + (query_loss + 0.1 * support_loss) / tasks
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        if update % 20 == 0:
            print(f"update {update + 1}: outer loss {total.item():.4f}")


if __name__ == "__main__":
    train(updates=81)
