"""Synthetic shop orders with a Wasserstein GAN and gradient penalty (Gulrajani et al. 2017)."""
import torch
from torch import autograd

from model import OrderCritic, OrderGenerator

torch.manual_seed(1701)

CFG = dict(batch=48, iterations=12, n_critic=3, lambda_gp=10.0, lr=1e-3)


def orders(n):
    """Two kinds of shoppers: daytime with small baskets, evening with large ones."""
    evening = (torch.rand(n, 1) < 0.4).float()
    price = 2.0 + 1.2 * evening + 0.3 * torch.randn(n, 1)
    quantity = 0.5 + 0.8 * evening + 0.2 * torch.randn(n, 1)
    hour = -0.5 + 1.2 * evening + 0.2 * torch.randn(n, 1)
    return torch.cat([price, quantity, hour], dim=1)


def gradient_penalty(critic, real, fake):
    """Keep the critic's slope at one between real and generated orders."""
    eps = torch.rand(len(real), 1)
    between = (eps * real + (1 - eps) * fake).requires_grad_(True)
    scores = critic(between)
    slopes = autograd.grad(scores, between, grad_outputs=torch.ones_like(scores))[0]
    return (slopes.norm(2, dim=1) - 1).pow(2).mean()


class WGAN:
    def __init__(self, cfg):
        self.cfg = cfg
        self.generator = OrderGenerator()
        self.critic = OrderCritic()
        betas = (0.0, 0.9)
        self.opt_g = torch.optim.Adam(self.generator.parameters(), lr=cfg["lr"], betas=betas)
        self.opt_c = torch.optim.Adam(self.critic.parameters(), lr=cfg["lr"], betas=betas)

    def noise(self):
        return torch.randn(self.cfg["batch"], self.generator.noise_dim)

    def critic_step(self):
        real = orders(self.cfg["batch"])
        fake = self.generator(self.noise()).detach()
        wasserstein = self.critic(real).mean() - self.critic(fake).mean()
        gp = gradient_penalty(self.critic, real, fake)
        loss = -wasserstein + self.cfg["lambda_gp"] * gp

        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        return wasserstein.item(), gp.item()

    def generator_step(self):
        for p in self.critic.parameters():
            p.requires_grad_(False)
        loss = -self.critic(self.generator(self.noise())).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        for p in self.critic.parameters():
            p.requires_grad_(True)
        return loss.item()

    def fit(self):
        for it in range(self.cfg["iterations"]):
            for _ in range(self.cfg["n_critic"]):
                w, gp = self.critic_step()
            g = self.generator_step()
            if it % 3 == 0:
                print(f"{it:3d}  W {w:7.4f}  gp {gp:7.4f}  G {g:7.4f}")


if __name__ == "__main__":
    gan = WGAN(CFG)
    gan.fit()
    with torch.no_grad():
        print("mean generated order:", gan.generator(gan.noise()).mean(0).tolist())
