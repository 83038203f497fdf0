"""Inverse physics-informed network: fit x(t) of a damped oscillator and find its damping."""
import argparse
import math

import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, width=32, depth=3):
        super().__init__()
        layers = [nn.Linear(1, width), nn.Tanh()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.Tanh()]
        layers.append(nn.Linear(width, 1))
        self.layers = nn.Sequential(*layers)

    def forward(self, t):
        return self.layers(t)


def exact(t, mass=1.0, mu=4.0, k=40.0):
    d, w0 = mu / (2 * mass), math.sqrt(k / mass)
    w = math.sqrt(w0 ** 2 - d ** 2)
    phi = math.atan(-d / w)
    return torch.exp(-d * t) * torch.cos(phi + w * t) / math.cos(phi)


class OscillatorPINN:
    """m x'' + mu x' + k x = 0 with unknown mu; the measurements are noisy."""

    def __init__(self, opt):
        self.opt = opt
        self.net = Net()
        self.mu = nn.Parameter(torch.tensor(1.0))
        gen = torch.Generator().manual_seed(opt.seed)
        self.t_obs = torch.rand(40, 1, generator=gen)
        self.x_obs = exact(self.t_obs) + 0.03 * torch.randn(40, 1, generator=gen)
        self.t_phys = torch.linspace(0, 1, 60).view(-1, 1).requires_grad_(True)
        self.optimizer = torch.optim.Adam([
            {"params": self.net.parameters(), "lr": opt.lr},
            {"params": [self.mu], "lr": 10 * opt.lr},
        ])

    def derivatives(self, t):
        x = self.net(t)
        ones = torch.ones_like(x)
        x_t = torch.autograd.grad(x, t, ones, create_graph=True)[0]
        x_tt = torch.autograd.grad(x_t, t, ones, create_graph=True)[0]
        return x, x_t, x_tt

    def physics_loss(self):
        x, x_t, x_tt = self.derivatives(self.t_phys)
        residual = x_tt + self.mu * x_t + 40.0 * x
        return residual.pow(2).mean()

    def data_loss(self):
        return (self.net(self.t_obs) - self.x_obs).pow(2).mean()

    def start_loss(self):
        return (self.net(torch.zeros(1, 1)) - 1.0).pow(2).mean()

    def step(self):
        self.optimizer.zero_grad()
        data = self.data_loss() + self.start_loss()
        physics = self.physics_loss()
        loss = data + self.opt.weight * physics
        loss.backward()
        self.optimizer.step()
        return loss.item(), data.item(), physics.item()


def main():
    parser = argparse.ArgumentParser(description="damped oscillator")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--weight", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=123)
    opt = parser.parse_args()

    torch.manual_seed(opt.seed)
    problem = OscillatorPINN(opt)
    for i in range(opt.steps):
        loss, data, physics = problem.step()
        if i % 10 == 0 or i == opt.steps - 1:
            print(f"step {i:3d} loss {loss:.4f} data {data:.4f} physics {physics:.2f} mu {problem.mu.item():.3f}")


if __name__ == "__main__":
    main()
