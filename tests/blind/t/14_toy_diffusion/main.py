"""Denoising diffusion on two moons, with micro-batches and an averaged copy of the weights."""
import copy
import math

import torch
import torch.nn as nn

STEPS, MICRO, ACCUMULATE, EPOCHS = 50, 64, 2, 12


def two_moons(n, seed):
    gen = torch.Generator().manual_seed(seed)
    angle = math.pi * torch.rand(n, generator=gen)
    upper = torch.rand(n, generator=gen) < 0.5
    x = torch.where(upper, angle.cos(), 1 - angle.cos())
    y = torch.where(upper, angle.sin(), 0.5 - angle.sin())
    return torch.stack([x, y], 1) + 0.05 * torch.randn(n, 2, generator=gen)


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.time = nn.Embedding(STEPS, 16)
        self.net = nn.Sequential(
            nn.Linear(18, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2)
        )

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], 1))


class Diffusion:
    def __init__(self):
        beta = torch.linspace(1e-3, 0.15, STEPS)
        self.alpha = 1 - beta
        self.alpha_bar = torch.cumprod(self.alpha, 0)

    def loss(self, model, x0):
        t = torch.randint(0, STEPS, (len(x0),))
        noise = torch.randn_like(x0)
        keep = self.alpha_bar[t].unsqueeze(1)
        return (model(keep.sqrt() * x0 + (1 - keep).sqrt() * noise, t) - noise).pow(2).mean()

    @torch.no_grad()
    def sample(self, model, n):
        x = torch.randn(n, 2)
        for t in reversed(range(STEPS)):
            eps = model(x, torch.full((n,), t))
            x -= (1 - self.alpha[t]) / (1 - self.alpha_bar[t]).sqrt() * eps
            x /= self.alpha[t].sqrt()
            if t > 0:
                x += (1 - self.alpha[t]).sqrt() * torch.randn_like(x)
        return x


def update_average(average, model, decay=0.9):
    with torch.no_grad():
        for a, p in zip(average.parameters(), model.parameters()):
            a.mul_(decay).add_(p, alpha=1 - decay)


def main():
    torch.manual_seed(8)
    data = two_moons(512, seed=8)
    model, diffusion = Denoiser(), Diffusion()
    average = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.95)

    optimizer.zero_grad()
    for epoch in range(EPOCHS):
        total = 0.0
        for i, idx in enumerate(torch.randperm(len(data)).split(MICRO)):
            loss = diffusion.loss(model, data[idx]) / ACCUMULATE
            loss.backward()
            total += loss.item() * ACCUMULATE
            if (i + 1) % ACCUMULATE == 0:
                optimizer.step()
                update_average(average, model)
                optimizer.zero_grad()
        scheduler.step()
        if epoch % 3 == 2:
            drawn = diffusion.sample(average, 200)
            print(f"epoch {epoch + 1:2d}: loss {total / (i + 1):.4f}  "
                  f"sample mean {drawn.mean(0).tolist()}  data mean {data.mean(0).tolist()}")


if __name__ == "__main__":
    main()
