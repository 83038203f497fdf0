"""Forecast the river level one step ahead with a stateful LSTM.

The gauge record is one long series, cut into consecutive chunks of 20 readings.
The LSTM state is carried from each chunk to the next one, so the network keeps
its context over the whole record; training is truncated BPTT, i.e. the gradient
of a chunk's loss stays within this chunk.
"""
import math

import torch
import torch.nn as nn

torch.manual_seed(31)

CHUNK = 20


class LevelForecaster(nn.Module):
    def __init__(self, hidden_size=24):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, 1)
        self.state = None

    def reset(self):
        self.state = None

    def forward(self, x):
        features, (h, c) = self.lstm(x, self.state)
        self.state = (h.detach(), c.detach())
        return self.out(features)


def make_series(n=241):
    t = torch.arange(n, dtype=torch.float32)
    level = torch.sin(2 * math.pi * t / 37) + 0.4 * torch.sin(2 * math.pi * t / 11)
    return level + 0.05 * torch.randn(n)


series = make_series()
inputs = series[:-1].view(1, -1, 1).split(CHUNK, dim=1)
targets = series[1:].view(1, -1, 1).split(CHUNK, dim=1)

model = LevelForecaster()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(6):
    model.reset()
    total = 0.0
    for x, y in zip(inputs, targets):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: mse {total / len(inputs):.4f}")
