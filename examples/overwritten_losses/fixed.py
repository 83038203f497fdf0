"""Fixed: every batch has its backward pass and its step.

The two calls stand inside the loop. Who wants one step an epoch keeps the step outside and calls `backward()` in the
loop: gradients add up.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regression(nn.Module):
    """A curve through noisy points."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The height of the curve at each place."""
        return self.layers(x)


def noisy_curve(count: int) -> TensorDataset:
    """Points near a sine wave."""
    x = torch.rand(count, 1) * 6 - 3
    return TensorDataset(x, x.sin() + 0.1 * torch.randn(count, 1))


def train(epochs: int) -> None:
    """Epoch after epoch, with the mean loss of each."""
    torch.manual_seed(0)
    loader = DataLoader(noisy_curve(256), batch_size=16, shuffle=True)
    model = Regression()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.MSELoss()
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            total += loss.item()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    train(epochs=10)
