"""GAN on a ring of Gaussians.

In every iteration the generator makes one step on the non-saturating loss, then the
discriminator makes one step on its real/fake classification loss.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(43)

LATENT, BATCH, MODES = 8, 128, 6


def ring_batches(n):
    for _ in range(n):
        k = torch.randint(0, MODES, (BATCH,)) * (2 * math.pi / MODES)
        centers = torch.stack([k.cos(), k.sin()], dim=1)
        yield centers + 0.05 * torch.randn(BATCH, 2)


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 64), nn.LeakyReLU(0.2),
                         nn.Linear(64, 64), nn.LeakyReLU(0.2),
                         nn.Linear(64, n_out))


class GAN:
    def __init__(self):
        self.G = mlp(LATENT, 2)
        self.D = mlp(2, 1)
        self.opt_G = torch.optim.Adam(self.G.parameters(), lr=1e-3, betas=(0.5, 0.999))
        self.opt_D = torch.optim.Adam(self.D.parameters(), lr=1e-3, betas=(0.5, 0.999))

    def generator_loss(self, fake):
        return F.softplus(-self.D(fake)).mean()

    def discriminator_loss(self, real, fake):
        return F.softplus(-self.D(real)).mean() + F.softplus(self.D(fake)).mean()

    def train_step(self, real):
        self.opt_G.zero_grad()
        self.opt_D.zero_grad()

        fake = self.G(torch.randn(len(real), LATENT))
        g_loss = self.generator_loss(fake)
        g_loss.backward()
        self.opt_G.step()

        d_loss = self.discriminator_loss(real, fake.detach())
        d_loss.backward()
        self.opt_D.step()
        return g_loss.item(), d_loss.item()

    @torch.no_grad()
    def radius(self, n=512):
        return self.G(torch.randn(n, LATENT)).norm(dim=1).mean().item()


gan = GAN()
for it, real in enumerate(ring_batches(200)):
    g_loss, d_loss = gan.train_step(real)
    if it % 25 == 0:
        print(f"iter {it:3d}  G {g_loss:.3f}  D {d_loss:.3f}  mean radius {gan.radius():.3f}")
