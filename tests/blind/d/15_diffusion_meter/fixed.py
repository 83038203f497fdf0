"""Denoising diffusion on points of two moons."""
import math

import torch
from torch import nn

from meters_fixed import SmoothedValue


class Denoiser(nn.Module):
    def __init__(self, steps, width=24):
        super().__init__()
        self.time = nn.Embedding(steps, 8)
        self.net = nn.Sequential(nn.Linear(2 + 8, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


class Diffusion:
    def __init__(self, steps=20):
        self.steps = steps
        betas = torch.linspace(1e-3, 0.2, steps)
        self.alphas_cumprod = torch.cumprod(1 - betas, dim=0)

    def q_sample(self, x0, t, noise):
        a = self.alphas_cumprod[t].unsqueeze(1)
        return a.sqrt() * x0 + (1 - a).sqrt() * noise

    def p_losses(self, model, x0):
        t = torch.randint(self.steps, (len(x0),))
        noise = torch.randn_like(x0)
        return nn.functional.mse_loss(model(self.q_sample(x0, t, noise), t), noise)


def moons(n):
    angle = math.pi * torch.rand(n)
    upper = torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)
    lower = torch.stack([1 - torch.cos(angle), 0.5 - torch.sin(angle)], dim=1)
    return torch.where(torch.rand(n, 1) > 0.5, upper, lower)


def main():
    torch.manual_seed(2020)
    diffusion = Diffusion()
    model = Denoiser(diffusion.steps)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_meter = SmoothedValue(window_size=10)
    for step in range(60):
        batch = moons(32)
        loss = diffusion.p_losses(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_meter.update(loss, n=len(batch))
        if (step + 1) % 20 == 0:
            print(f"step {step + 1} {loss_meter}")


if __name__ == "__main__":
    main()
