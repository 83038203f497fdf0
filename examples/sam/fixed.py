"""Fixed: a second forward pass, at the second point.

The loss is computed again after the climb. That is what SAM costs, two forward and two backward passes a batch, and no
way leads around it.
"""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class SAM:
    """Climbs to the worst point near the weights, and lets another optimizer step with the gradient found there."""

    def __init__(self, base: torch.optim.Optimizer, radius: float = 0.05) -> None:
        self.base = base
        self.radius = radius
        self.weights = [weight for group in base.param_groups for weight in group["params"]]
        self.climbed: list[Tensor] = []

    @torch.no_grad()
    def climb(self) -> None:
        """Up the gradient, as far as the radius."""
        length = torch.stack([weight.grad.norm() for weight in self.weights]).norm()
        self.climbed = [weight.grad * self.radius / length for weight in self.weights]
        for weight, distance in zip(self.weights, self.climbed, strict=True):
            weight.add_(distance)
        self.base.zero_grad()

    @torch.no_grad()
    def step(self) -> None:
        """Back, and down with the gradient from up there."""
        for weight, distance in zip(self.weights, self.climbed, strict=True):
            weight.sub_(distance)
        self.base.step()
        self.base.zero_grad()


def two_rings(count: int) -> TensorDataset:
    """Points on two rings; the label is the ring."""
    labels = torch.arange(count) % 2
    angles = torch.rand(count) * 6.3
    points = torch.stack([angles.cos(), angles.sin()], dim=1) * (1.0 + labels[:, None])
    return TensorDataset(points + 0.1 * torch.randn(count, 2), labels)


def train(epochs: int) -> None:
    """Two backward passes for every batch."""
    torch.manual_seed(0)
    loader = DataLoader(two_rings(256), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = SAM(torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9))
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        total = 0.0
        for points, labels in loader:
            loss = criterion(model(points), labels)
            loss.backward()
            optimizer.climb()
            criterion(model(points), labels).backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    train(epochs=8)
