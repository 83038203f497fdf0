"""Closed-loop identification of a pump: predict pressure from valve commands.

The model never sees the measured pressure as an input. Its own last prediction
is fed back together with the next command, over the whole run and also across
the border between two windows. The run is processed in windows of 12 samples
with one optimizer step per window; gradients flow through the feedback within a
window, while the carry that enters a window is its (fixed) initial condition.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn

WINDOW = 12


@dataclass
class Carry:
    hidden: torch.Tensor
    pressure: torch.Tensor

    @classmethod
    def initial(cls, batch, width):
        return cls(torch.zeros(batch, width), torch.zeros(batch, 1))


class PumpModel(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.width = width
        self.cell = nn.GRUCell(2, width)
        self.readout = nn.Linear(width, 1)

    def forward(self, commands, carry):
        h, p = carry.hidden, carry.pressure
        outputs = []
        for u in commands.unbind(dim=1):
            h = self.cell(torch.cat([u, p], dim=1), h)
            p = self.readout(h)
            outputs.append(p)
        return torch.stack(outputs, dim=1), Carry(h.detach(), p.detach())


def simulate_pump(runs=8, length=WINDOW * 6):
    commands = torch.rand(runs, length, 1).round()
    pressure, p = [], torch.zeros(runs, 1)
    for t in range(length):
        p = p + 0.25 * (1.6 * commands[:, t] - p) - 0.02 * p ** 3
        pressure.append(p)
    return commands, torch.stack(pressure, dim=1)


def train(model, commands, pressure, epochs=4):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    windows = list(zip(commands.split(WINDOW, dim=1), pressure.split(WINDOW, dim=1)))
    for epoch in range(epochs):
        carry = Carry.initial(commands.shape[0], model.width)
        errors = []
        for u, target in windows:
            predicted, carry = model(u, carry)
            loss = (predicted - target).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            errors.append(loss.item())
        print(f"epoch {epoch}: " + " ".join(f"{e:.4f}" for e in errors))


if __name__ == "__main__":
    torch.manual_seed(404)
    commands, pressure = simulate_pump()
    train(PumpModel(), commands, pressure)
