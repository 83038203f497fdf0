"""Variational autoencoder for reflectance spectra of minerals.

Encoder and decoder are trained together on the negative ELBO: a Gaussian
reconstruction term and the KL divergence to a standard normal prior.
"""
import torch
import torch.nn as nn
from torch.distributions import Normal, kl_divergence

CFG = {
    "bands": 48,
    "latent": 4,
    "hidden": 64,
    "n_spectra": 512,
    "batch": 64,
    "epochs": 15,
    "lr": 2e-3,
    "beta_max": 0.3,
    "noise": 0.1,
    "seed": 17,
}


def make_spectra(cfg):
    """Mixtures of four absorption features with random depths and widths."""
    wave = torch.linspace(0, 1, cfg["bands"])
    centers = torch.tensor([0.15, 0.4, 0.6, 0.85])
    depth = torch.rand(cfg["n_spectra"], 4, 1)
    width = 0.03 + 0.05 * torch.rand(cfg["n_spectra"], 1, 1)
    lines = depth * torch.exp(-((wave - centers[:, None]) / width) ** 2)
    return 1.0 - lines.sum(dim=1) + 0.01 * torch.randn(cfg["n_spectra"], cfg["bands"])


class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(cfg["bands"], cfg["hidden"]), nn.ReLU(),
            nn.Linear(cfg["hidden"], cfg["hidden"]), nn.ReLU(),
        )
        self.mu = nn.Linear(cfg["hidden"], cfg["latent"])
        self.log_std = nn.Linear(cfg["hidden"], cfg["latent"])

    def forward(self, x):
        h = self.trunk(x)
        return Normal(self.mu(h), self.log_std(h).clamp(-5, 2).exp())


class Decoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(cfg["latent"], cfg["hidden"]), nn.ReLU(),
            nn.Linear(cfg["hidden"], cfg["hidden"]), nn.ReLU(),
            nn.Linear(cfg["hidden"], cfg["bands"]),
        )
        self.noise = cfg["noise"]

    def forward(self, z):
        return Normal(self.net(z), self.noise)


class SpectraVAE(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.encoder = Encoder(cfg)
        self.decoder = Decoder(cfg)
        self.register_buffer("prior_mu", torch.zeros(cfg["latent"]))
        self.register_buffer("prior_std", torch.ones(cfg["latent"]))

    def elbo_terms(self, x):
        posterior = self.encoder(x)
        z = posterior.sample()
        recon = -self.decoder(z).log_prob(x).sum(dim=1).mean()
        prior = Normal(self.prior_mu, self.prior_std)
        kl = kl_divergence(posterior, prior).sum(dim=1).mean()
        return recon, kl


def train(cfg):
    torch.manual_seed(cfg["seed"])
    spectra = make_spectra(cfg)
    model = SpectraVAE(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])

    for epoch in range(cfg["epochs"]):
        beta = cfg["beta_max"] * min(1.0, (epoch + 1) / 5)
        sums = [0.0, 0.0]
        batches = torch.randperm(len(spectra)).split(cfg["batch"])
        for idx in batches:
            recon, kl = model.elbo_terms(spectra[idx])
            loss = recon + beta * kl
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 50.0)
            optimizer.step()
            sums[0] += recon.item()
            sums[1] += kl.item()
        if epoch % 2 == 0:
            n = len(batches)
            print(f"epoch {epoch:2d}  beta {beta:.2f}  recon {sums[0] / n:9.3f}  kl {sums[1] / n:7.4f}")
    return model


if __name__ == "__main__":
    train(CFG)
