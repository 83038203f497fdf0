"""GAN for two-dimensional rings; the generator is updated once for every three updates of the discriminator."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def ring(n):
    a = 2 * math.pi * torch.rand(n)
    r = 1.5 + 0.05 * torch.randn(n)
    return torch.stack([r * a.cos(), r * a.sin()], dim=1)


def net(i, o):
    return nn.Sequential(nn.Linear(i, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, o))


def d_loss_fn(d, real, fake):
    return F.softplus(-d(real)).mean() + F.softplus(d(fake)).mean()


def g_loss_fn(d, fake):
    return F.softplus(-d(fake)).mean()


def train(iterations=180, n_disc=3, batch=40, latent=3):
    torch.manual_seed(28)
    g, d = net(latent, 2), net(2, 1)
    g_opt = torch.optim.Adam(g.parameters(), lr=2e-3, betas=(0.5, 0.99))
    d_opt = torch.optim.Adam(d.parameters(), lr=2e-3, betas=(0.5, 0.99))

    for it in range(iterations):
        fake = g(torch.randn(batch, latent))
        d_loss = d_loss_fn(d, ring(batch), fake.detach())
        d_opt.zero_grad()
        d_loss.backward()
        d_opt.step()

        if it % n_disc == 0:
            g_loss = g_loss_fn(d, fake)
            g_opt.zero_grad()
            g_loss.backward()
            g_opt.step()

        if it % 45 == 0:
            radius = fake.detach().norm(dim=1)
            print(f"iteration {it:3d}  d {d_loss.item():.3f}  g {g_loss.item():.3f}  radius {radius.mean().item():.2f}")

    with torch.no_grad():
        radius = g(torch.randn(500, latent)).norm(dim=1)
    print(f"final radius {radius.mean().item():.2f} +- {radius.std().item():.2f} (1.50 +- 0.05)")


if __name__ == "__main__":
    train()
