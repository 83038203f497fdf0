"""Synthetic patient records with a conditional Wasserstein GAN and a Lipschitz penalty."""
import argparse
from collections import defaultdict

import torch
import torch.nn as nn


def patient_records(n, seed):
    gen = torch.Generator().manual_seed(seed)
    ward = torch.randint(0, 3, (n,), generator=gen)
    age = 0.4 * torch.randn(n, generator=gen) + ward.float() - 1.0
    pressure = 0.6 * age + 0.3 * torch.randn(n, generator=gen)
    glucose = torch.where(ward == 2, 1.0, -0.5) + 0.2 * torch.randn(n, generator=gen)
    stay = torch.tanh(pressure + glucose) + 0.1 * torch.randn(n, generator=gen)
    return torch.stack([age, pressure, glucose, stay], 1), nn.functional.one_hot(ward, 3).float()


class Generator(nn.Module):
    def __init__(self, noise, cond, columns, width=48):
        super().__init__()
        self.noise = noise
        self.net = nn.Sequential(
            nn.Linear(noise + cond, width), nn.LeakyReLU(0.2),
            nn.Linear(width, width), nn.LeakyReLU(0.2),
            nn.Linear(width, columns),
        )

    def forward(self, cond):
        z = torch.randn(len(cond), self.noise)
        return self.net(torch.cat([z, cond], 1))


class Critic(nn.Module):
    def __init__(self, columns, cond, width=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(columns + cond, width), nn.LeakyReLU(0.2),
            nn.Linear(width, width), nn.LeakyReLU(0.2),
            nn.Linear(width, 1, bias=False),
        )

    def forward(self, rows, cond):
        return self.net(torch.cat([rows, cond], 1)).squeeze(1)


def lipschitz_penalty(critic, real, fake, cond):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    scores = critic(between, cond)
    slope = torch.autograd.grad(scores, between, grad_outputs=torch.ones_like(scores), create_graph=True)[0]
    return (slope.norm(2, dim=1) - 1).pow(2).mean()


class Trainer:
    def __init__(self, args):
        self.args = args
        self.generator = Generator(8, 3, 4)
        self.critic = Critic(4, 3)
        self.g_opt = torch.optim.Adam(self.generator.parameters(), lr=args.lr, betas=(0.5, 0.9))
        self.c_opt = torch.optim.Adam(self.critic.parameters(), lr=args.lr, betas=(0.5, 0.9))

    def critic_step(self, real, cond):
        fake = self.generator(cond).detach()
        gap = self.critic(fake, cond).mean() - self.critic(real, cond).mean()
        penalty = lipschitz_penalty(self.critic, real, fake, cond)
        loss = gap + self.args.penalty_weight * penalty
        self.c_opt.zero_grad()
        loss.backward()
        self.c_opt.step()
        return {"wasserstein": -gap.item(), "penalty": penalty.item()}

    def generator_step(self, cond):
        loss = -self.critic(self.generator(cond), cond).mean()
        self.g_opt.zero_grad()
        loss.backward()
        self.g_opt.step()
        return {"generator": loss.item()}

    def fit(self, rows, cond):
        for epoch in range(self.args.epochs):
            logs = defaultdict(list)
            for i, idx in enumerate(torch.randperm(len(rows)).split(self.args.batch_size)):
                entry = self.critic_step(rows[idx], cond[idx])
                if i % self.args.critic_steps == self.args.critic_steps - 1:
                    entry.update(self.generator_step(cond[idx]))
                for key, value in entry.items():
                    logs[key].append(value)
            print(f"epoch {epoch}: " + "  ".join(f"{k} {sum(v) / len(v):.4f}" for k, v in logs.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--critic-steps", type=int, default=4)
    parser.add_argument("--penalty-weight", type=float, default=2.0)
    parser.add_argument("--lr", type=float, default=4e-3)
    options = parser.parse_args()
    torch.manual_seed(17)
    Trainer(options).fit(*patient_records(512, seed=17))
