"""Broken: a recurrent model of one's own keeps its state in an attribute, and the state keeps its history.

A small model predicts a sine wave, one window of eight values at a time, with an update after each window. Its hidden
state lives on in `self.hidden`, which is right: the next window goes on where this one ended. But the state brings the
graph of its own computation along, and that graph was freed by the last backward pass. PyTorch stops in the second
step. Look for a line that reads and writes the same attribute.
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
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step + 1}: loss {loss.item():.4f}")


if __name__ == "__main__":
    train(steps=41)
