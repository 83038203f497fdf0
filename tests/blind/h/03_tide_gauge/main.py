"""Online forecast of a tide gauge with a GRU that is never reset: one update per window of the stream."""
import math

import torch
from torch import nn


def gauge(n):
    t = torch.arange(n, dtype=torch.float32)
    level = torch.sin(2 * math.pi * t / 24.8) + 0.4 * torch.sin(2 * math.pi * t / 12.4 + 0.7)
    return (level + 0.05 * torch.randn(n)).view(-1, 1, 1)


torch.manual_seed(21)
series = gauge(1201)
window = 30

gru = nn.GRU(1, 24)
readout = nn.Linear(24, 1)
params = list(gru.parameters()) + list(readout.parameters())
optimizer = torch.optim.Adam(params, lr=1e-2)
criterion = nn.MSELoss()

# the memory runs on through the whole stream, the gradient stops at the window's edge
state = torch.zeros(1, 1, 24)
errors = []
for start in range(0, len(series) - 1, window):
    x = series[start:start + window]
    y = series[start + 1:start + window + 1]
    output, state = gru(x, state)
    forecast = readout(output)
    loss = criterion(forecast, y)

    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()

    errors.append(loss.item())
    if len(errors) % 8 == 0:
        recent = errors[-8:]
        print(f"hour {start + window:5d}  mean squared error {sum(recent) / len(recent):.4f}")

print(f"first window {errors[0]:.4f}, last window {errors[-1]:.4f}")
