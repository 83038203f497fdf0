"""Neural ODE for lynx and hare populations.

A small network gives the time derivative of the two log-populations. The
model is integrated with Euler steps from the first observation and fitted to
the whole observed trajectory.
"""
import torch
import torch.nn as nn

torch.manual_seed(0)

STEPS, DT = 40, 0.1


class Derivative(nn.Module):
    def __init__(self, dim=2, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, width), nn.Tanh(), nn.Linear(width, dim))

    def forward(self, y):
        return self.net(y)


def integrate(func, y0, steps, dt):
    """Euler integration; returns the states, shape (batch, steps + 1, dim)."""
    states = [y0]
    for t in range(steps):
        states.append(states[t] + dt * func(states[t]))
    return torch.stack(states, dim=1)


def lotka_volterra(y):
    hare, lynx = y[..., 0].exp(), y[..., 1].exp()
    return torch.stack([1.0 - 0.6 * lynx, -0.9 + 0.5 * hare], dim=-1)


def observe(n):
    y = torch.rand(n, 2) * 1.2 - 0.2
    path = [y]
    for _ in range(STEPS):
        for _ in range(10):
            y = y + DT / 10 * lotka_volterra(y)
        path.append(y)
    return torch.stack(path, dim=1)


observed = observe(24)
func = Derivative()
optimizer = torch.optim.Adam(func.parameters(), lr=1e-2)

for step in range(60):
    optimizer.zero_grad()
    predicted = integrate(func, observed[:, 0], STEPS, DT)
    loss = (predicted - observed).pow(2).mean()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step:3d}  mse {loss.item():.5f}")
