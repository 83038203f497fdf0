"""WGAN-GP on a ring of Gaussians."""
import math

import torch
from torch import autograd, nn

LAMBDA = 10
CRITIC_ITERS = 3


def mlp(n_in, n_out, width=20):
    return nn.Sequential(nn.Linear(n_in, width), nn.Softplus(), nn.Linear(width, width), nn.Softplus(), nn.Linear(width, n_out))


def ring(n):
    angle = 2 * math.pi * torch.randint(8, (n,)) / 8
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(n, 2)


def calc_gradient_penalty(netD, real_data, fake_data):
    alpha = torch.rand(len(real_data), 1).expand_as(real_data)
    interpolates = alpha * real_data + (1 - alpha) * fake_data
    interpolates = interpolates.detach().requires_grad_(True)
    disc_interpolates = netD(interpolates)
    gradients = autograd.grad(
        outputs=disc_interpolates,
        inputs=interpolates,
        grad_outputs=torch.ones_like(disc_interpolates),
        only_inputs=True,
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * LAMBDA


def main():
    torch.manual_seed(1)
    netG, netD = mlp(2, 2), mlp(2, 1)
    optimizerD = torch.optim.Adam(netD.parameters(), lr=5e-3, betas=(0.5, 0.9))
    optimizerG = torch.optim.Adam(netG.parameters(), lr=5e-3, betas=(0.5, 0.9))

    for iteration in range(12):
        for _ in range(CRITIC_ITERS):
            real = ring(32)
            with torch.no_grad():
                fake = netG(torch.randn(32, 2))
            netD.zero_grad()
            wasserstein = netD(real).mean() - netD(fake).mean()
            gradient_penalty = calc_gradient_penalty(netD, real, fake)
            D_cost = -wasserstein + gradient_penalty
            D_cost.backward()
            optimizerD.step()

        netG.zero_grad()
        G_cost = -netD(netG(torch.randn(32, 2))).mean()
        G_cost.backward()
        optimizerG.step()
        if iteration % 4 == 3:
            print(f"{iteration + 1}: W {wasserstein.item():.3f} penalty {gradient_penalty.item():.3f}")


if __name__ == "__main__":
    main()
