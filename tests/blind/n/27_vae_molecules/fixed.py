"""VAE on molecular fingerprints; the KL weight is annealed from 0 to 1."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(55)

BITS, LATENT = 48, 6


class FingerprintVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(BITS, 40), nn.ReLU())
        self.mu = nn.Linear(40, LATENT)
        self.logvar = nn.Linear(40, LATENT)
        self.decoder = nn.Sequential(nn.Linear(LATENT, 40), nn.ReLU(), nn.Linear(40, BITS))

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.decoder(z), mu, logvar


def elbo_terms(logits, x, mu, logvar):
    recon = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1).mean()
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return recon, kl


scaffolds = (torch.rand(5, BITS) < 0.4).float()
flips = (torch.rand(300, BITS) < 0.05).float()
data = (scaffolds[torch.randint(0, 5, (300,))] - flips).abs()

vae = FingerprintVAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=3e-3)
step, anneal_steps = 0, 24

for epoch in range(8):
    for batch in data[torch.randperm(len(data))].split(60):
        step += 1
        beta = min(1.0, step / anneal_steps)
        logits, mu, logvar = vae(batch)
        recon, kl = elbo_terms(logits, batch, mu, logvar)
        loss = recon + beta * kl

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}  -elbo {loss.item():.3f}  recon {recon.item():.3f}  kl {kl.item():.3f}  beta {beta:.2f}")
