"""Learn the vector field of a damped pendulum from trajectories (neural ODE, Euler steps)."""
import torch
import torch.nn as nn

torch.manual_seed(31)

dt, steps = 0.1, 12


def true_field(y):
    theta, omega = y[..., :1], y[..., 1:]
    return torch.cat([omega, -0.2 * omega - torch.sin(theta)], dim=-1)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(2, 32)
        self.l2 = nn.Linear(32, 2)

    def forward(self, y):
        return self.l2(torch.tanh(self.l1(y)))


def integrate(field, y0):
    y = y0.clone()
    path = []
    for _ in range(steps):
        y = y + dt * field(y)
        path.append(y.clone())
    return torch.stack(path, dim=1)


field = Field()
opt = torch.optim.Adam(field.parameters(), lr=1e-2)

for it in range(40):
    y0 = torch.randn(32, 2)
    with torch.no_grad():
        target = integrate(true_field, y0)
    pred = integrate(field, y0)
    loss = (pred - target).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 10 == 0:
        print(it, loss.item())
