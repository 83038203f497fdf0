"""WGAN-GP on a ring of Gaussians: two critic updates for each generator update."""
import argparse
import math

import torch
import torch.nn as nn


def ring(n, modes=6):
    angle = 2 * math.pi * torch.randint(0, modes, (n,)) / modes
    centre = torch.stack([angle.cos(), angle.sin()], dim=1)
    return centre + 0.05 * torch.randn(n, 2)


class Generator(nn.Module):
    def __init__(self, z_dim):
        super().__init__()
        self.z_dim = z_dim
        self.net = nn.Sequential(nn.Linear(z_dim, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(),
                                 nn.Linear(32, 2))

    def forward(self, n):
        return self.net(torch.randn(n, self.z_dim))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32),
                                 nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def gradient_penalty(critic, real, fake):
    mix = torch.rand(len(real), 1)
    point = (mix * real + (1 - mix) * fake).requires_grad_(True)
    value = critic(point)
    slope = torch.autograd.grad(value.sum(), point, create_graph=True)[0]
    return ((slope.norm(2, dim=1) - 1) ** 2).mean()


class WGAN:
    def __init__(self, opt):
        self.opt = opt
        self.gen = Generator(opt.z_dim)
        self.critic = Critic()
        betas = (0.5, 0.9)
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=opt.lr, betas=betas)
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=opt.lr, betas=betas)

    def critic_step(self, real):
        fake = self.gen(len(real)).detach()
        distance = self.critic(real).mean() - self.critic(fake).mean()
        penalty = gradient_penalty(self.critic, real, fake)
        loss = -distance + self.opt.gp * penalty
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        return distance.item(), penalty.item()

    def generator_step(self, n):
        loss = -self.critic(self.gen(n)).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()

    def train(self):
        for it in range(self.opt.iters):
            for _ in range(self.opt.n_critic):
                distance, penalty = self.critic_step(ring(self.opt.batch))
            g = self.generator_step(self.opt.batch)
            if it % 5 == 0:
                print(f"it {it:2d} W {distance:.4f} gp {penalty:.4f} g {g:.4f}")


def parse(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--iters", type=int, default=20)
    p.add_argument("--n-critic", dest="n_critic", type=int, default=2)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--z-dim", dest="z_dim", type=int, default=4)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--gp", type=float, default=10.0)
    return p.parse_args(argv)


if __name__ == "__main__":
    torch.manual_seed(31)
    WGAN(parse([])).train()
