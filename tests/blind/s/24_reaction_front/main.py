"""Recover diffusivity and growth rate of a reaction front from snapshots (explicit Euler)."""
import argparse

import torch
from torch import nn


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--cells", type=int, default=60)
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--dt", type=float, default=0.1)
    p.add_argument("--iters", type=int, default=50)
    p.add_argument("--lr", type=float, default=0.05)
    return p.parse_args()


def initial_profile(cells):
    x = torch.linspace(0, 30, cells)
    return torch.sigmoid(4.0 - x)


class FisherFront(nn.Module):
    """u_t = D u_xx + r u (1 - u), fixed values at both ends."""

    def __init__(self, diffusivity, growth, dx, dt):
        super().__init__()
        self.log_d = nn.Parameter(torch.tensor(float(diffusivity)).log())
        self.log_r = nn.Parameter(torch.tensor(float(growth)).log())
        self.dx = dx
        self.dt = dt

    def forward(self, u0, steps):
        d, r = self.log_d.exp(), self.log_r.exp()
        u = u0.clone()
        snapshots = []
        for k in range(steps):
            lap = (u[2:] - 2 * u[1:-1] + u[:-2]) / self.dx ** 2
            growth = r * u[1:-1] * (1 - u[1:-1])
            u[1:-1] = u[1:-1] + self.dt * (d * lap + growth)
            if (k + 1) % 10 == 0:
                snapshots.append(u.clone())
        return torch.stack(snapshots)


def observe(u0, args, dx):
    truth = FisherFront(0.6, 0.8, dx, args.dt)
    with torch.no_grad():
        frames = truth(u0, args.steps)
    noise = torch.randn(frames.shape, generator=torch.Generator().manual_seed(9))
    return frames + 0.005 * noise


def main():
    args = get_args()
    torch.manual_seed(9)
    dx = 30.0 / (args.cells - 1)
    u0 = initial_profile(args.cells)
    frames = observe(u0, args, dx)

    model = FisherFront(0.2, 0.3, dx, args.dt)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for it in range(args.iters):
        optimizer.zero_grad()
        loss = (model(u0, args.steps) - frames).pow(2).mean()
        loss.backward()
        optimizer.step()
        if it % 10 == 0 or it == args.iters - 1:
            print(f"iter {it:2d}  loss {loss.item():.6f}  D {model.log_d.exp().item():.3f}  "
                  f"r {model.log_r.exp().item():.3f}")


if __name__ == "__main__":
    main()
