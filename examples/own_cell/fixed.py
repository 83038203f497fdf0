"""Fixed: after each update the state keeps its values and forgets how they were computed.

`detach()` gives a tensor with the same numbers and no history. Each window then trains on itself alone, from where the
last one ended: truncated back-propagation through time, which is what one wants of a long signal anyway.
"""

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
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(steps):
        window = signal[8 * step : 8 * step + 9]
        loss = nn.functional.mse_loss(model(window[:-1]), window[1:])
        optimizer.zero_grad()
        loss.backward()
        model.hidden = model.hidden.detach()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step + 1}: loss {loss.item():.4f}")


if __name__ == "__main__":
    train(steps=41)
