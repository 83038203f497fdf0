"""A small recurrent model, trained one window of a sine wave at a time. PyTorch stops it in its second step."""

import math

import torch
from torch import nn


class Forecaster(nn.Module):
    """Predicts the next value of a signal from the values so far."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.cell = nn.GRUCell(1, width)
        self.head = nn.Linear(width, 1)
        self.hidden = torch.zeros(1, width)

    def forward(self, window: torch.Tensor) -> torch.Tensor:
        """One prediction for every value of the window."""
        predictions = []
        for value in window:
            self.hidden = self.cell(value.view(1, 1), self.hidden)
            predictions.append(self.head(self.hidden))
        return torch.cat(predictions).squeeze(1)


def train(steps: int) -> None:
    """Window after window, each with an update of its own."""
    torch.manual_seed(0)
    signal = torch.tensor([math.sin(0.3 * position) for position in range(8 * steps + 1)])
    model = Forecaster()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        window = signal[8 * step : 8 * step + 9]
        loss = nn.functional.mse_loss(model(window[:-1]), window[1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step + 1}: loss {loss.item():.4f}")


if __name__ == "__main__":
    train(steps=10)
