"""A small VAE on noisy sine curves."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class CurveVAE(nn.Module):
    def __init__(self, points, latent):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(points, 64), nn.ReLU())
        self.mu = nn.Linear(64, latent)
        self.logvar = nn.Linear(64, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, points))

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decoder(z), mu, logvar


def curves(count, points):
    t = torch.linspace(0, 1, points)
    frequency = 1 + 2 * torch.rand(count, 1)
    phase = 6.28 * torch.rand(count, 1)
    return torch.sin(6.28 * frequency * t + phase) + 0.05 * torch.randn(count, points)


def elbo_terms(x, output, mu, logvar):
    reconstruction = F.mse_loss(output, x, reduction="none").sum(1).mean()
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return reconstruction, kl


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--beta", type=float, default=0.5)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--warmup", type=int, default=2, help="epochs until beta is reached")
    options = parser.parse_args()

    torch.manual_seed(27)
    data = curves(480, 40)
    model = CurveVAE(40, 6)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(options.epochs):
        beta = options.beta * min(1.0, (epoch + 1) / options.warmup)
        sums = [0.0, 0.0]
        for x in data[torch.randperm(len(data))].split(48):
            reconstruction, kl = elbo_terms(x, *model(x))
            loss = reconstruction
            loss = loss + beta * kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums[0] += reconstruction.item() / 10
            sums[1] += kl.item() / 10
        print(f"epoch {epoch}: reconstruction {sums[0]:.3f} kl {sums[1]:.3f} beta {beta:.2f}")


if __name__ == "__main__":
    main()
