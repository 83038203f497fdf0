"""Forecast tomorrow's electricity load as three quantiles (10 %, 50 %, 90 %).

One network gives all three numbers; it is trained on the sum of the pinball losses.
"""
import torch
from torch import nn

torch.manual_seed(3)
QUANTILES = [0.1, 0.5, 0.9]

t = torch.arange(400, dtype=torch.float32)
load = torch.sin(t / 7) + 0.3 * torch.sin(t / 3) + 0.15 * torch.randn(400)
history = load.unfold(0, 14, 1)[:-1]
target = load[14:]

net = nn.Sequential(nn.Linear(14, 24), nn.ReLU(), nn.Linear(24, len(QUANTILES)))
opt = torch.optim.Adam(net.parameters(), lr=0.005)


def pinball(pred, y, q):
    err = y - pred
    return torch.maximum(q * err, (q - 1) * err).mean()


for step in range(50):
    pick = torch.randint(0, len(target), (64,))
    forecast = net(history[pick])
    y = target[pick]

    opt.zero_grad()
    loss = 0.0
    for k, q in enumerate(QUANTILES):
        loss = loss + pinball(forecast[:, k], y, q)
    loss.backward()
    shown = loss.item()
    opt.step()

    if step % 10 == 0:
        print(f"{step:3d} pinball {shown:.4f}")
