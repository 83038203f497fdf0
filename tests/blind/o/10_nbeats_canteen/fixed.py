"""N-BEATS style forecast of meals sold in a canteen (14 days in, 5 days out).

Doubly residual stacking: every block explains part of the input (backcast) and adds its
share to the forecast.  All blocks are trained together, end to end, by one Adam.
"""
import math
import torch
from torch import nn

BACK, AHEAD = 14, 5


class Block(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(BACK, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.backcast = nn.Linear(width, BACK)
        self.forecast = nn.Linear(width, AHEAD)

    def forward(self, x):
        h = self.body(x)
        return self.backcast(h), self.forecast(h)


class CanteenNet(nn.Module):
    def __init__(self, n_blocks=4):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(AHEAD))
        self.blocks = nn.ModuleList(Block() for _ in range(n_blocks))
        self.calendar = nn.Embedding(7, AHEAD)

    def forward(self, x, weekday):
        out = self.calendar(weekday)
        residual = x
        for block in self.blocks:
            back, ahead = block(residual)
            residual = residual - back
            out = out + ahead
        return out * self.scale


def meals(days=300):
    t = torch.arange(days).float()
    week = torch.tensor([1.0, 1.2, 1.1, 1.0, 0.7, 0.1, 0.0])[torch.arange(days) % 7]
    return week + 0.2 * torch.sin(2 * math.pi * t / 90) + 0.05 * torch.randn(days)


def windows(series, batch):
    start = torch.randint(0, len(series) - BACK - AHEAD, (batch,))
    x = torch.stack([series[s:s + BACK] for s in start])
    y = torch.stack([series[s + BACK:s + BACK + AHEAD] for s in start])
    return x, y, (start + BACK) % 7


def main():
    torch.manual_seed(30)
    series = meals()
    model = CanteenNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(40):
        x, y, weekday = windows(series, 32)
        loss = nn.functional.l1_loss(model(x, weekday), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:3d}  mae {loss.item():.4f}")


if __name__ == "__main__":
    main()
