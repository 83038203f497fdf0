"""Inverse problem: recover the viscosity of Burgers' equation from scattered measurements."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Settings:
    true_nu: float = 0.10
    speed: float = 0.5
    amplitude: float = 0.5
    n_data: int = 120
    n_colloc: int = 300
    steps: int = 60
    lr: float = 1e-2
    log_every: int = 10
    seed: int = 4


def travelling_wave(x, t, cfg):
    return cfg.speed - cfg.amplitude * torch.tanh(cfg.amplitude * (x - cfg.speed * t) / (2 * cfg.true_nu))


class Field(nn.Module):
    def __init__(self, width=24, depth=3):
        super().__init__()
        layers, n_in = [], 2
        for _ in range(depth):
            layers += [nn.Linear(n_in, width), nn.Tanh()]
            n_in = width
        self.body = nn.Sequential(*layers, nn.Linear(n_in, 1))

    def forward(self, x, t):
        return self.body(torch.cat([x, t], dim=1))


class InverseBurgers(nn.Module):
    def __init__(self, nu_guess):
        super().__init__()
        self.field = Field()
        self.log_nu = nn.Parameter(torch.tensor(math.log(nu_guess)))

    def residual(self, x, t):
        x = x.clone().requires_grad_(True)
        t = t.clone().requires_grad_(True)
        u = self.field(x, t)
        u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
        u_xx = torch.autograd.grad(u_x.sum(), x)[0]
        return u_t + u * u_x - self.log_nu.exp() * u_xx

    def data_misfit(self, x, t, u_obs):
        return (self.field(x, t) - u_obs).pow(2).mean()


def sample_box(n, generator):
    x = 4 * torch.rand(n, 1, generator=generator) - 2
    t = torch.rand(n, 1, generator=generator)
    return x, t


def main():
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    x_obs, t_obs = sample_box(cfg.n_data, gen)
    u_obs = travelling_wave(x_obs, t_obs, cfg)

    problem = InverseBurgers(nu_guess=0.3)
    optimizer = torch.optim.Adam([
        {"params": problem.field.parameters()},
        {"params": [problem.log_nu], "lr": 4 * cfg.lr},
    ], lr=cfg.lr)

    for step in range(cfg.steps):
        x_c, t_c = sample_box(cfg.n_colloc, gen)
        optimizer.zero_grad()
        pde = problem.residual(x_c, t_c).pow(2).mean()
        data = problem.data_misfit(x_obs, t_obs, u_obs)
        loss = data + pde
        loss.backward()
        optimizer.step()
        if step % cfg.log_every == 0 or step == cfg.steps - 1:
            nu = problem.log_nu.exp().item()
            print(f"step {step:3d}  data {data.item():.5f}  pde {pde.item():.5f}  nu {nu:.4f} (true {cfg.true_nu})")


if __name__ == "__main__":
    main()
