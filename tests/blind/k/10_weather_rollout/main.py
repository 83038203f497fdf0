"""Multi-step forecaster: a recurrent cell rolled out on its own predictions.

One update per rollout, back-propagated through all of its twelve steps.
"""
import torch
import torch.nn as nn

torch.manual_seed(9)
HORIZON, STATIONS = 12, 5

cell = nn.GRUCell(STATIONS, 16)
head = nn.Linear(16, STATIONS)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=5e-3)

t = torch.arange(400).float()
series = torch.stack([torch.sin(t / (4 + k)) for k in range(STATIONS)], dim=1)
series = series + 0.05 * torch.randn_like(series)

pending = []
history = []
for step in range(24):
    start = torch.randint(0, 400 - HORIZON - 1, (1,)).item()
    window = series[start:start + HORIZON + 1]
    h = torch.zeros(1, 16)
    obs = window[0:1]
    forecast = torch.zeros(HORIZON, STATIONS)
    for k in range(HORIZON):
        h = cell(obs, h)
        obs = obs + head(h)
        forecast[k] = obs[0]
        pending.append(((obs[0] - window[k + 1]) ** 2).mean())
    loss = sum(pending) / len(pending)
    loss += 0.01 * (forecast[1:] - forecast[:-1]).abs().mean()

    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(cell.parameters(), 1.0)
    optimizer.step()
    pending.clear()
    history.append(loss.detach())

print(torch.stack(history)[::6])
