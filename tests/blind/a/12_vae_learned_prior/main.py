"""VAE with a learned Gaussian prior and KL warm-up."""
import csv
import io

import torch
from torch import nn
from torch.distributions import Normal, kl_divergence
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, d=12, latent=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 20), nn.SiLU(), nn.Dropout(0.05), nn.Linear(20, 2 * latent))
        self.dec = nn.Sequential(nn.Linear(latent, 20), nn.SiLU(), nn.Linear(20, d))
        self.prior_mu = nn.Parameter(torch.zeros(latent))
        self.prior_rho = nn.Parameter(torch.zeros(latent))

    def prior(self):
        return Normal(self.prior_mu, F.softplus(self.prior_rho) + 1e-3)

    def posterior(self, x):
        mu, rho = self.enc(x).chunk(2, dim=-1)
        return Normal(mu, F.softplus(rho) + 1e-3)


def elbo_terms(model, x, prior):
    q = model.posterior(x)
    z = q.rsample()
    rec = F.mse_loss(model.dec(z), x, reduction="none").sum(-1).mean()
    kl = kl_divergence(q, prior).sum(-1).mean()
    return rec, kl


def beta(step, warmup=10):
    return min(1.0, (step + 1) / warmup)


def train():
    torch.manual_seed(12)
    mix = torch.randn(3, 12)
    data = torch.randn(60, 3) @ mix + 0.1 * torch.randn(60, 12)
    train_x, valid_x = data[:48], data[48:]
    model = VAE()
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    prior = model.prior()
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["step", "rec", "kl", "beta"])
    step = 0
    for epoch in range(6):
        model.train()
        for x in train_x[torch.randperm(48)].split(16):
            rec, kl = elbo_terms(model, x, prior)
            loss = rec + beta(step) * kl
            opt.zero_grad()
            loss.backward()
            opt.step()
            writer.writerow([step, f"{rec.item():.3f}", f"{kl.item():.3f}", f"{beta(step):.1f}"])
            step += 1
        model.eval()
        with torch.no_grad():
            rec, kl = elbo_terms(model, valid_x, prior)
        print(f"epoch {epoch}: valid rec {rec.item():.3f} kl {kl.item():.3f}")
    print(table.getvalue().strip().splitlines()[-1])


if __name__ == "__main__":
    train()
