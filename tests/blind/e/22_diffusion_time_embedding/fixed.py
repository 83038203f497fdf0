"""Denoising diffusion on a ring of Gaussians."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def ring(count, modes=6):
    k = torch.randint(0, modes, (count,)).float()
    angle = 2 * math.pi * k / modes
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(count, 2)


class NoiseSchedule:
    def __init__(self, steps=50, low=1e-3, high=0.15):
        self.steps = steps
        self.beta = torch.linspace(low, high, steps)
        self.alpha_bar = torch.cumprod(1 - self.beta, dim=0)

    def diffuse(self, x0, t):
        noise = torch.randn_like(x0)
        keep = self.alpha_bar[t].unsqueeze(1)
        return keep.sqrt() * x0 + (1 - keep).sqrt() * noise, noise


class TimeEmbedding(nn.Module):
    def __init__(self, dim, steps):
        super().__init__()
        self.table = nn.Embedding(steps, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))

    def forward(self, t):
        return self.mlp(self.table(t))


class Denoiser(nn.Module):
    def __init__(self, time_dim, hidden=64):
        super().__init__()
        self.inp = nn.Linear(2 + time_dim, hidden)
        self.mid = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x, emb):
        h = F.silu(self.inp(torch.cat([x, emb], dim=1)))
        return self.out(F.silu(self.mid(h)))


@torch.no_grad()
def sample(denoiser, embed, schedule, count):
    x = torch.randn(count, 2)
    for t in reversed(range(schedule.steps)):
        step = torch.full((count,), t)
        noise = denoiser(x, embed(step))
        beta, bar = schedule.beta[t], schedule.alpha_bar[t]
        x = (x - beta / (1 - bar).sqrt() * noise) / (1 - beta).sqrt()
        if t > 0:
            x = x + beta.sqrt() * torch.randn_like(x)
    return x


def main():
    torch.manual_seed(23)
    data = ring(1024)
    schedule = NoiseSchedule()
    embed = TimeEmbedding(16, schedule.steps)
    denoiser = Denoiser(16)
    optimizer = torch.optim.AdamW([*denoiser.parameters(), *embed.parameters()], lr=3e-3)
    for epoch in range(6):
        total = 0.0
        for index in torch.randperm(len(data)).split(128):
            t = torch.randint(0, schedule.steps, (len(index),))
            noisy, noise = schedule.diffuse(data[index], t)
            loss = F.mse_loss(denoiser(noisy, embed(t)), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / 8
        print(f"epoch {epoch}: mse {total:.4f}")
    drawn = sample(denoiser, embed, schedule, 300)
    print(f"mean radius of samples {drawn.norm(dim=1).mean().item():.3f}")


if __name__ == "__main__":
    main()
