"""A tiny VAE on pictures of dial hands."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)

BETA = 0.5


def dials(count, size=8):
    angle = torch.rand(count, 1, 1) * 6.2832
    grid = torch.linspace(-1, 1, size)
    y, x = torch.meshgrid(grid, grid, indexing="ij")
    along = x * angle.cos() + y * angle.sin()
    across = -x * angle.sin() + y * angle.cos()
    return ((along > 0) & (across.abs() < 0.25)).float().flatten(1)


class DialVAE(nn.Module):
    def __init__(self, pixels=64, code=3):
        super().__init__()
        self.enc = nn.Linear(pixels, 32)
        self.mu = nn.Linear(32, code)
        self.logvar = nn.Linear(32, code)
        self.dec = nn.Sequential(nn.Linear(code, 32), nn.ReLU(), nn.Linear(32, pixels))

    def forward(self, x):
        e = F.relu(self.enc(x))
        mu, logvar = self.mu(e), self.logvar(e)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


vae = DialVAE()
opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
pictures = dials(256)

for epoch in range(5):
    for x in pictures[torch.randperm(len(pictures))].split(64):
        logits, mu, logvar = vae(x)
        rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
        kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum() / len(x)
        elbo = rec + BETA * kl
        opt.zero_grad()
        elbo.backward()
        opt.step()
    print(f"{epoch}: -elbo {elbo.item():.2f} (rec {rec.item():.2f}, kl {kl.item():.2f})")
