"""Beta-VAE on noisy rings."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, d=8, h=32, z=2):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.Tanh())
        self.mu = nn.Linear(h, z)
        self.logvar = nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.Tanh(), nn.Linear(h, d))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def rings(n):
    angle = 2 * math.pi * torch.rand(n, 1)
    base = torch.cat([angle.cos(), angle.sin()], 1)
    mix = torch.linspace(-1, 1, 16).view(2, 8)
    return base @ mix + 0.05 * torch.randn(n, 8)


def elbo_terms(recon, x, mu, logvar):
    rec = F.mse_loss(recon, x, reduction="sum") / len(x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return rec, kl


def run(beta=0.1, epochs=8):
    torch.manual_seed(5)
    data = rings(256)
    model = VAE()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        rec_sum = kl_sum = 0.0
        for batch in data.split(32):
            opt.zero_grad()
            recon, mu, logvar = model(batch)
            rec, kl = elbo_terms(recon, batch, mu, logvar)
            kl = beta * kl
            rec.backward()
            kl.backward()
            opt.step()
            rec_sum += rec.item()
            kl_sum += kl.item()
        print(f"epoch {epoch}: reconstruction {rec_sum / 8:.4f}  kl {kl_sum / 8:.4f}")


if __name__ == "__main__":
    run()
