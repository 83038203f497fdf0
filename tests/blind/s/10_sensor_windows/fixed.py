"""Conditional Wasserstein GAN with gradient penalty for short sensor windows."""
import argparse
import math

import torch
from torch.utils.data import DataLoader, TensorDataset

from networks import WindowCritic, WindowGenerator


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--noise-dim", type=int, default=12)
    p.add_argument("--critic-steps", type=int, default=2)
    p.add_argument("--gp-weight", type=float, default=2.0)
    p.add_argument("--lr", type=float, default=4e-3)
    return p.parse_args()


N_CLASSES, LENGTH = 3, 32


def sensor_windows(n=384, seed=0):
    g = torch.Generator().manual_seed(seed)
    c = torch.randint(N_CLASSES, (n,), generator=g)
    t = torch.linspace(0, 2 * math.pi, LENGTH)
    phase = 0.4 * torch.randn(n, 1, generator=g)
    amp = 0.6 + 0.2 * torch.rand(n, 1, generator=g)
    x = amp * torch.sin((c.unsqueeze(1) + 1) * t + phase) + 0.05 * torch.randn(n, LENGTH, generator=g)
    return TensorDataset(x.clamp(-1, 1), c)


class WganTrainer:
    def __init__(self, args):
        self.args = args
        self.gen = WindowGenerator(args.noise_dim, N_CLASSES, LENGTH)
        self.critic = WindowCritic(N_CLASSES, LENGTH)
        self.opt_g = torch.optim.Adam(self.gen.parameters(), lr=args.lr, betas=(0.5, 0.9))
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=args.lr, betas=(0.5, 0.9))
        self.iteration = 0

    def gradient_penalty(self, real, fake, c):
        alpha = torch.rand(len(real), 1)
        mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
        score = self.critic(mixed, c)
        grads, = torch.autograd.grad(score, mixed, torch.ones_like(score), create_graph=True)
        return ((grads.norm(2, dim=1) - 1) ** 2).mean()

    def critic_update(self, real, fake, c):
        score_fake = self.critic(fake.detach(), c)
        score_real = self.critic(real, c)
        penalty = self.gradient_penalty(real, fake.detach(), c)
        loss = score_fake.mean() - score_real.mean() + self.args.gp_weight * penalty
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        return {"critic": loss.item(), "penalty": penalty.item()}

    def generator_update(self, fake, c):
        loss = -self.critic(fake, c).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return {"gen": loss.item()}

    def train_step(self, real, c):
        self.iteration += 1
        z = torch.randn(len(real), self.args.noise_dim)
        fake = self.gen(z, c)
        logs = self.critic_update(real, fake, c)
        if self.iteration % self.args.critic_steps == 0:
            logs.update(self.generator_update(fake, c))
        return logs

    @torch.no_grad()
    def class_gap(self, data):
        x, c = data.tensors
        fake = self.gen(torch.randn(len(x), self.args.noise_dim), c)
        gaps = [(x[c == k].mean(0) - fake[c == k].mean(0)).norm() for k in range(N_CLASSES)]
        return sum(gaps).item() / N_CLASSES


def main():
    args = parse()
    torch.manual_seed(13)
    data = sensor_windows()
    loader = DataLoader(data, batch_size=args.batch, shuffle=True, drop_last=True)
    trainer = WganTrainer(args)
    for epoch in range(args.epochs):
        history = {}
        for real, c in loader:
            for k, v in trainer.train_step(real, c).items():
                history.setdefault(k, []).append(v)
        text = "  ".join(f"{k} {sum(v) / len(v):.4f}" for k, v in history.items())
        print(f"epoch {epoch + 1}: {text}  gap {trainer.class_gap(data):.3f}")


if __name__ == "__main__":
    main()
