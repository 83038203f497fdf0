"""Broken: a loss for every batch, and one backward pass after the loop.

It is often said that this raises, because the losses of several batches meet in one backward. It does not. Each batch
overwrites `loss`; the graphs of all batches but the last are dropped, and only the last batch of an epoch trains the
model. Everything runs, quickly even, and the model learns hardly anything. Look for `loss = …` in a loop and
`loss.backward()` outside it.
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
