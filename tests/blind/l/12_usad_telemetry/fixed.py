"""USAD (KDD 2020) on synthetic telemetry: two autoencoders with one encoder.

Phase 1 of a batch trains AE1 = (E, D1), phase 2 then trains AE2 = (E, D2), the
latter as a detector of what the AE1 that phase 1 has just trained reconstructs.
Encoder and decoders belong to the optimizers as in the authors' code.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Options:
    window: int = 16
    latent: int = 5
    epochs: int = 3
    batch: int = 32
    lr: float = 1e-3


def decoder(o):
    return nn.Sequential(nn.Linear(o.latent, 12), nn.ReLU(),
                         nn.Linear(12, o.window), nn.Sigmoid())


class USAD(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(o.window, 12), nn.ReLU(),
                                     nn.Linear(12, o.latent), nn.ReLU())
        self.decoder1 = decoder(o)
        self.decoder2 = decoder(o)

    def losses(self, batch, n):
        z = self.encoder(batch)
        w1 = self.decoder1(z)
        w2 = self.decoder2(z)
        w3 = self.decoder2(self.encoder(w1))
        own1 = (batch - w1).pow(2).mean()
        own2 = (batch - w2).pow(2).mean()
        fooled = (batch - w3).pow(2).mean()
        loss1 = own1 / n + (1 - 1 / n) * fooled
        loss2 = own2 / n - (1 - 1 / n) * fooled
        return loss1, loss2


def telemetry(o, n=128):
    t = torch.arange(o.window) / o.window
    phase = torch.rand(n, 1)
    return 0.5 + 0.4 * torch.sin(6.28 * (t + phase)) + 0.02 * torch.randn(n, o.window)


def train(o):
    model = USAD(o)
    encoder = list(model.encoder.parameters())
    opt1 = torch.optim.Adam(encoder + list(model.decoder1.parameters()), lr=o.lr)
    opt2 = torch.optim.Adam(encoder + list(model.decoder2.parameters()), lr=o.lr)
    data = telemetry(o)
    for epoch in range(1, o.epochs + 1):
        for batch in data.split(o.batch):
            loss1, loss2 = model.losses(batch, epoch)

            opt1.zero_grad()
            loss1.backward()
            opt1.step()

            _, loss2 = model.losses(batch, epoch)
            opt2.zero_grad()
            loss2.backward()
            opt2.step()
        print(f"epoch {epoch}: {loss1.item():.4f} {loss2.item():.4f}")
    return model


torch.manual_seed(8)
train(Options())
