"""Generates vibration windows of a healthy bearing; Wasserstein critic with a gradient penalty."""
import argparse
import math

import torch

from nets import Critic, Generator


def bearing_windows(n, window, seed):
    gen = torch.Generator().manual_seed(seed)
    t = torch.linspace(0, 1, window)
    phase = 2 * math.pi * torch.rand(n, 1, generator=gen)
    freq = 3 + torch.rand(n, 1, generator=gen)
    clean = torch.sin(2 * math.pi * freq * t + phase)
    return clean + 0.05 * torch.randn(n, window, generator=gen)


def gradient_penalty(critic, real, fake):
    mix = torch.rand(real.size(0), 1)
    points = (mix * real + (1 - mix) * fake).requires_grad_(True)
    scores = critic(points)
    grads, = torch.autograd.grad(scores.sum(), points, create_graph=True)
    return ((grads.norm(dim=1) - 1) ** 2).mean()


class Trainer:
    def __init__(self, args):
        self.args = args
        self.gen = Generator(args.noise, args.window)
        self.critic = Critic(args.window)
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=args.lr, betas=(0.5, 0.9))
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=args.lr, betas=(0.5, 0.9))

    def critic_step(self, real):
        with torch.no_grad():
            fake = self.gen(real.size(0))
        gap = self.critic(fake).mean() - self.critic(real).mean()
        penalty = gradient_penalty(self.critic, real, fake)
        loss = gap + self.args.gp * penalty
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        return gap.item(), penalty.item()

    def generator_step(self, n):
        loss = -self.critic(self.gen(n)).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=12)
    ap.add_argument("--critic-steps", type=int, default=3)
    ap.add_argument("--noise", type=int, default=8)
    ap.add_argument("--window", type=int, default=32)
    ap.add_argument("--gp", type=float, default=10.0)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()

    torch.manual_seed(4)
    data = bearing_windows(256, args.window, seed=8)
    trainer = Trainer(args)
    for step in range(args.steps):
        for _ in range(args.critic_steps):
            real = data[torch.randint(0, len(data), (32,))]
            gap, penalty = trainer.critic_step(real)
        g_loss = trainer.generator_step(32)
        if step % 3 == 2:
            print(f"step {step + 1}: gap {gap:.4f} penalty {penalty:.4f} generator {g_loss:.4f}")


if __name__ == "__main__":
    main()
