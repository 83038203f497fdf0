"""Broken: two networks that share nothing, and a `retain_graph=True` between them.

Two sensors, two networks, two losses, two backward calls in a row. It is often said that the second call would fail
unless the first one retains its graph. It would not: the two graphs have no op in common. Nothing raises here, with or
without it; the first graph is only kept in memory for nobody. Look for a retain that no later pass uses.
"""

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class Calibration(nn.Module):
    """From the raw readings of one sensor to the quantity it measures."""

    def __init__(self, channels: int, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(channels, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, readings: Tensor) -> Tensor:
        """One value for each reading."""
        return self.layers(readings).squeeze(1)


def measure(count: int) -> TensorDataset:
    """The same quantity, as a thermometer with three channels and a pressure gauge with two show it."""
    truth = torch.rand(count) * 2 - 1
    thermometer = torch.stack([truth, truth**2, truth**3], dim=1) + 0.05 * torch.randn(count, 3)
    gauge = torch.stack([truth.exp(), truth.sin()], dim=1) + 0.05 * torch.randn(count, 2)
    return TensorDataset(thermometer, gauge, truth)


def train(epochs: int) -> None:
    """Both networks side by side, each with an optimizer of its own."""
    torch.manual_seed(0)
    loader = DataLoader(measure(256), batch_size=32, shuffle=True)
    for_thermometer, for_gauge = Calibration(channels=3), Calibration(channels=2)
    optimizers = [torch.optim.Adam(each.parameters(), lr=0.01) for each in (for_thermometer, for_gauge)]
    criterion = nn.MSELoss()
    for epoch in range(epochs):
        totals = torch.zeros(2)
        for thermometer, gauge, truth in loader:
            loss_thermometer = criterion(for_thermometer(thermometer), truth)
            loss_gauge = criterion(for_gauge(gauge), truth)
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss_thermometer.backward(retain_graph=True)
            loss_gauge.backward()
            for optimizer in optimizers:
                optimizer.step()
            totals += torch.tensor([loss_thermometer.item(), loss_gauge.item()]) / len(loader)
        print(f"epoch {epoch + 1}: thermometer {totals[0]:.4f}, gauge {totals[1]:.4f}")


if __name__ == "__main__":
    train(epochs=8)
