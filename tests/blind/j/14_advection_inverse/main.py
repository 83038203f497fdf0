"""Inverse problem with a physics-informed network.

A concentration profile is carried along a channel: u_t + c u_x = 0 with unknown speed c.
Sensors give noisy values of u at some points (x, t). The network u(x, t) is fitted to the
sensors and to the equation at the same points, and the speed c is found along the way:
both the network and c learn from the equation.
"""
import torch
from torch import nn

TRUE_SPEED = 0.7


class Concentration(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 1),
        )

    def forward(self, x, t):
        return self.layers(torch.cat([x, t], dim=1))


class Channel(nn.Module):
    """The network together with the physical constant."""

    def __init__(self):
        super().__init__()
        self.u = Concentration()
        self.speed = nn.Parameter(torch.tensor(0.4))

    def derivatives(self, u, x, t):
        """u_x and u_t at the given points."""
        u_x, u_t = torch.autograd.grad(u, (x, t), grad_outputs=torch.ones_like(u))
        return u_x, u_t

    def residual(self, u, x, t):
        u_x, u_t = self.derivatives(u, x, t)
        return u_t + self.speed * u_x


class SensorData:
    def __init__(self, count=80, noise=0.01):
        self.x = torch.rand(count, 1) * 2 - 1
        self.t = torch.rand(count, 1)
        exact = torch.exp(-4 * (self.x - TRUE_SPEED * self.t) ** 2)
        self.u = exact + noise * torch.randn_like(exact)

    def sample(self, size):
        rows = torch.randperm(len(self.u))[:size]
        x = self.x[rows].clone().requires_grad_(True)
        t = self.t[rows].clone().requires_grad_(True)
        return x, t, self.u[rows]


def train(channel, data, steps=60, size=60, weight=0.1):
    optimizer = torch.optim.Adam(
        [{"params": channel.u.parameters(), "lr": 2e-2}, {"params": [channel.speed], "lr": 3e-2}]
    )
    for step in range(steps):
        x, t, measured = data.sample(size)
        u = channel.u(x, t)
        physics = channel.residual(u, x, t).pow(2).mean()
        sensors = (u - measured).pow(2).mean()
        loss = sensors + weight * physics

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            print(f"step {step:2d} sensors {sensors.item():.4f} physics {physics.item():.4f} "
                  f"speed {channel.speed.item():.3f}")


def main():
    torch.manual_seed(14)
    channel = Channel()
    data = SensorData()
    train(channel, data)
    print("speed found", round(channel.speed.item(), 3), "true", TRUE_SPEED)


if __name__ == "__main__":
    main()
