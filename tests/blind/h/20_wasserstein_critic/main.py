"""Wasserstein GAN with gradient penalty on a mixture of Gaussians in the plane."""
import math

import torch
import torch.nn as nn


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, outputs))


def mixture(n):
    angle = torch.randint(0, 5, (n,)) * (2 * math.pi / 5)
    return torch.stack([angle.cos(), angle.sin()], 1) * 2 + 0.1 * torch.randn(n, 2)


def gradient_penalty(critic, real, fake):
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * fake).requires_grad_(True)
    slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (slope.norm(dim=1) - 1).square().mean()


class WGAN:
    def __init__(self, latent=4, n_critic=3, weight=10.0):
        self.latent, self.n_critic, self.weight = latent, n_critic, weight
        self.generator, self.critic = mlp(latent, 2), mlp(2, 1)
        self.opt_g = torch.optim.Adam(self.generator.parameters(), lr=4e-3, betas=(0.0, 0.9))
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=4e-3, betas=(0.0, 0.9))

    def critic_step(self, real):
        fake = self.generator(torch.randn(len(real), self.latent)).detach()
        distance = self.critic(real).mean() - self.critic(fake).mean()
        loss = -distance + self.weight * gradient_penalty(self.critic, real, fake)
        self.opt_c.zero_grad()
        loss.backward(retain_graph=True)
        self.opt_c.step()
        return distance.item()

    def generator_step(self, n):
        loss = -self.critic(self.generator(torch.randn(n, self.latent))).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()


def main():
    torch.manual_seed(31)
    gan = WGAN()
    for it in range(60):
        for _ in range(gan.n_critic):
            distance = gan.critic_step(mixture(48))
        gan.generator_step(48)
        if it % 12 == 0:
            print(f"iteration {it:2d}: estimated distance {distance:.4f}")


if __name__ == "__main__":
    main()
