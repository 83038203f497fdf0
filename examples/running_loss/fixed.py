"""Fixed: the total is a number.

`loss.item()` takes the value out of the tensor. Nothing of the graph outlives its own step.
"""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    """Three layers for points in the plane."""

    def __init__(self, classes: int, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, classes)
        )

    def forward(self, points: Tensor) -> Tensor:
        """Scores for each class."""
        return self.layers(points)


def spiral(count: int, arms: int) -> TensorDataset:
    """Points on the arms of a spiral; the label is the arm."""
    labels = torch.arange(count) % arms
    radius = torch.rand(count)
    angles = 4 * radius + labels * 6.283 / arms + 0.1 * torch.randn(count)
    return TensorDataset(torch.stack([radius * angles.cos(), radius * angles.sin()], dim=1), labels)


def train(epochs: int) -> None:
    """The usual loop, with the mean loss of each epoch."""
    torch.manual_seed(0)
    loader = DataLoader(spiral(count=480, arms=3), batch_size=32, shuffle=True)
    model = Classifier(classes=3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        running_loss = 0.0
        for points, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(points), labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        print(f"epoch {epoch + 1}: loss {running_loss / len(loader):.4f}")


if __name__ == "__main__":
    train(epochs=8)
