"""Neural ODE for a damped pendulum.

The vector field is an MLP, integrated with the explicit Euler method; the whole
trajectory is fitted to the observed one.
"""
import math

import torch
import torch.nn as nn

torch.manual_seed(5)

DT, STEPS, BATCH = 0.05, 25, 16


def pendulum(y):
    theta, omega = y[..., 0], y[..., 1]
    return torch.stack([omega, -2.0 * torch.sin(theta) - 0.2 * omega], dim=-1)


def rk4_reference(y0):
    ys = [y0]
    for _ in range(STEPS):
        y = ys[-1]
        k1 = pendulum(y)
        k2 = pendulum(y + DT / 2 * k1)
        k3 = pendulum(y + DT / 2 * k2)
        k4 = pendulum(y + DT * k3)
        ys.append(y + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return torch.stack(ys)


class ODEModel(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.field = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def forward(self, y0):
        traj = torch.zeros(STEPS + 1, *y0.shape)
        traj[0] = y0
        for i in range(STEPS):
            traj[i + 1] = traj[i] + DT * self.field(traj[i])
        return traj


y0 = torch.empty(BATCH, 2).uniform_(-math.pi / 2, math.pi / 2)
observed = rk4_reference(y0)

model = ODEModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=40, gamma=0.5)

for it in range(80):
    optimizer.zero_grad()
    loss = (model(y0) - observed).pow(2).mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if it % 10 == 0:
        print(f"iter {it:3d}  mse {loss.item():.5f}")
