"""Neural ODE fitted to a spiral: RK4 in segments, each one checkpointed so that only the segment's start is stored."""
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Field(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        self.evaluations = 0

    def forward(self, z):
        self.evaluations += 1
        return self.net(z)


def rk4(f, z, dt):
    k1 = f(z)
    k2 = f(z + dt / 2 * k1)
    k3 = f(z + dt / 2 * k2)
    k4 = f(z + dt * k3)
    return z + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(f, z, segments, steps=3, dt=0.1):
    def segment(state):
        for _ in range(steps):
            state = rk4(f, state, dt)
        return state

    path = [z]
    for _ in range(segments):
        path.append(checkpoint(segment, path[-1], use_reentrant=False))
    return torch.stack(path)


def spiral(z, segments):
    a = torch.tensor([[-0.1, 1.5], [-1.5, -0.1]])
    return torch.stack([z @ torch.matrix_exp(a * 0.3 * k) for k in range(segments + 1)])


torch.manual_seed(73)
field = Field()
optimizer = torch.optim.Adam(field.parameters(), lr=1e-2)
segments = 4
losses = []
for it in range(30):
    start = torch.randn(24, 2)
    truth = spiral(start, segments)
    loss = (integrate(field, start, segments) - truth).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if it % 10 == 9:
        print(f"iteration {it}: loss {sum(losses[-10:]) / 10:.4f}  field evaluations {field.evaluations}")
