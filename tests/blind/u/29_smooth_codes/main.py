"""Contractive autoencoder for ECG beats: the code should hardly move when the beat does."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Setup:
    beats: int = 256
    length: int = 48
    code: int = 6
    probes: int = 2
    strength: float = 0.1
    batch: int = 32
    epochs: int = 4
    lr: float = 4e-3


def ecg_beats(n, length, seed):
    gen = torch.Generator().manual_seed(seed)
    t = torch.linspace(-1, 1, length)
    beats = torch.zeros(n, length)
    for centre, width, height in [(-0.5, 0.12, 0.3), (0.0, 0.05, 1.2), (0.45, 0.18, 0.5)]:
        c = centre + 0.05 * torch.randn(n, 1, generator=gen)
        h = height * (1 + 0.2 * torch.randn(n, 1, generator=gen))
        beats += h * torch.exp(-0.5 * ((t - c) / width) ** 2)
    return beats + 0.02 * torch.randn(n, length, generator=gen)


class AutoEncoder(nn.Module):
    def __init__(self, length, code):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(length, 32), nn.Softplus(), nn.Linear(32, code))
        self.decoder = nn.Sequential(nn.Linear(code, 32), nn.Softplus(), nn.Linear(32, length))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class CodeTap:
    """Remembers the code of the latest forward pass."""

    def __init__(self, module):
        self.code = None
        self.handle = module.register_forward_hook(self._keep)

    def _keep(self, module, inputs, output):
        self.code = output

    def close(self):
        self.handle.remove()
        self.code = None


def contraction(code, x, probes):
    """Estimate of the squared Jacobian norm, from random projections of the code."""
    total = 0.0
    for _ in range(probes):
        v = torch.randn_like(code)
        jvp, = torch.autograd.grad(code, x, grad_outputs=v, create_graph=True)
        total = total + (jvp ** 2).sum(dim=1).mean()
    return total / probes


def main():
    cfg = Setup()
    torch.manual_seed(19)
    data = ecg_beats(cfg.beats, cfg.length, seed=3)
    model = AutoEncoder(cfg.length, cfg.code)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    tap = CodeTap(model.encoder)
    smooth = None

    for epoch in range(cfg.epochs):
        for idx in torch.randperm(len(data)).split(cfg.batch):
            x = data[idx].clone().requires_grad_(True)
            rebuilt = model(x)
            error = F.mse_loss(rebuilt, x.detach())
            jac = contraction(tap.code, x, cfg.probes)
            loss = error + cfg.strength * jac
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            value = loss.detach()
            smooth = value if smooth is None else 0.9 * smooth + 0.1 * value
        print(f"epoch {epoch}: error {error.item():.4f} jacobian {jac.item():.4f} smoothed {smooth.item():.4f}")
    tap.close()


if __name__ == "__main__":
    main()
