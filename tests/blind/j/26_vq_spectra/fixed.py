"""Discrete codes for mass spectra (VQ-VAE).

An encoder turns a spectrum into vectors, the quantiser picks a code for each, the decoder
rebuilds the spectrum. Encoder, decoder and codebook are trained together.
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from vq_fixed import VectorQuantiser


@dataclass
class Config:
    bins: int = 24
    slots: int = 4
    dim: int = 6
    entries: int = 16
    hidden: int = 32
    steps: int = 60
    batch: int = 32
    lr: float = 4e-3


class Spectra:
    """Spectra with two or three peaks out of a small family."""

    def __init__(self, cfg, family=6):
        self.cfg = cfg
        self.place = torch.randint(2, cfg.bins - 2, (family, 3)).float()
        self.height = 0.5 + torch.rand(family, 3)

    def batch(self):
        kind = torch.randint(0, len(self.place), (self.cfg.batch,))
        axis = torch.arange(self.cfg.bins).float()
        peaks = torch.exp(-0.5 * (axis - self.place[kind].unsqueeze(-1)) ** 2)
        clean = (self.height[kind].unsqueeze(-1) * peaks).sum(1)
        return clean + 0.03 * torch.randn_like(clean)


class SpectrumVQVAE(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        latent = cfg.slots * cfg.dim
        self.encoder = nn.Sequential(nn.Linear(cfg.bins, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, latent))
        self.quantiser = VectorQuantiser(cfg.entries, cfg.dim)
        self.decoder = nn.Sequential(nn.Linear(latent, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, cfg.bins))

    def forward(self, spectrum):
        z = self.encoder(spectrum).view(-1, self.cfg.dim)
        quantised = self.quantiser(z)
        rebuilt = self.decoder(quantised.values.view(len(spectrum), -1))
        return rebuilt, quantised


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.data = Spectra(cfg)
        self.model = SpectrumVQVAE(cfg)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.log = []

    def step(self):
        spectrum = self.data.batch()
        rebuilt, quantised = self.model(spectrum)
        reconstruction = F.mse_loss(rebuilt, spectrum)
        loss = reconstruction + quantised.loss
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.log.append({
            "reconstruction": reconstruction.item(),
            "quantiser": quantised.loss.item(),
            "codes": quantised.codes.unique().numel(),
        })

    def run(self):
        for step in range(self.cfg.steps):
            self.step()
            if step % 12 == 0:
                row = self.log[-1]
                print(f"step {step:2d} rec {row['reconstruction']:.4f} vq {row['quantiser']:.4f} codes {row['codes']}")
        print("final", {k: round(v, 4) for k, v in self.log[-1].items()})


def main():
    torch.manual_seed(26)
    Trainer(Config()).run()


if __name__ == "__main__":
    main()
