"""Truncated BPTT with k1 < k2: an update every 4 steps, gradients over the last 12 steps of a noisy oscillator."""
from collections import deque

import torch
import torch.nn as nn


class Cell(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.mix = nn.Linear(1 + hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, h):
        h = torch.tanh(self.mix(torch.cat([x, h], 1)))
        return self.out(h), h


def oscillator(n, batch=6):
    t = torch.arange(n).view(-1, 1, 1) * 0.3 + torch.rand(batch, 1) * 6
    return torch.sin(t) + 0.05 * torch.randn(n, batch, 1)


class WindowedBPTT:
    """Keeps the inputs of the last k2 steps and the state before them; the window is run again for each update."""

    def __init__(self, cell, optimizer, k1=4, k2=12):
        self.cell, self.optimizer = cell, optimizer
        self.k1, self.k2 = k1, k2
        self.window = deque()
        self.before = torch.zeros(6, 16)

    def push(self, x, y):
        self.window.append((x, y))
        if len(self.window) > self.k2:
            old_x, _ = self.window.popleft()
            with torch.no_grad():
                _, self.before = self.cell(old_x, self.before)

    def update(self):
        h, losses = self.before, []
        for x, y in self.window:
            guess, h = self.cell(x, h)
            losses.append((guess - y).square().mean())
        loss = torch.stack(losses[-self.k1:]).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(24)
series = oscillator(321)
cell = Cell()
learner = WindowedBPTT(cell, torch.optim.Adam(cell.parameters(), lr=1e-2))
history = []
for t in range(320):
    learner.push(series[t], series[t + 1])
    if t % learner.k1 == learner.k1 - 1:
        history.append(learner.update())
    if t % 64 == 63:
        print(f"t {t}: loss {sum(history[-16:]) / 16:.4f}")
