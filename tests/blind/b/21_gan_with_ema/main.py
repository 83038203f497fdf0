"""GAN trainer with averaged generator, schedulers and checkpoints."""
import os
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from networks import Discriminator, Generator, ModelEMA


@dataclass
class Config:
    epochs: int = 3
    batches: int = 4
    batch: int = 8
    lr_g: float = 2e-3
    lr_d: float = 2e-3
    gamma: float = 0.9
    out: str = "checkpoints"


class GANTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.G, self.D = Generator(), Discriminator()
        self.ema = ModelEMA(self.G)
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=cfg.lr_g, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=cfg.lr_d, betas=(0.5, 0.999))
        self.schedulers = [
            torch.optim.lr_scheduler.ExponentialLR(opt, cfg.gamma) for opt in (self.opt_g, self.opt_d)
        ]

    def real_batch(self):
        return torch.randn(self.cfg.batch, 8) * 0.5 + torch.linspace(-1, 1, 8)

    @staticmethod
    def bce(scores, real):
        target = torch.ones_like(scores) if real else torch.zeros_like(scores)
        return F.binary_cross_entropy_with_logits(scores, target)

    def discriminator_loss(self, real, fake):
        return 0.5 * (self.bce(self.D(real), True) + self.bce(self.D(fake), False))

    def generator_loss(self, fake):
        return self.bce(self.D(fake), True)

    def optimize(self, optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    def train_batch(self):
        real = self.real_batch()
        fake = self.G(torch.randn(self.cfg.batch, self.G.latent))
        d_loss = self.optimize(self.opt_d, self.discriminator_loss(real, fake))
        g_loss = self.optimize(self.opt_g, self.generator_loss(fake))
        self.ema.update(self.G)
        return d_loss, g_loss

    def fit(self):
        os.makedirs(self.cfg.out, exist_ok=True)
        for epoch in range(self.cfg.epochs):
            rows = torch.tensor([self.train_batch() for _ in range(self.cfg.batches)])
            d_loss, g_loss = rows.mean(0).tolist()
            for scheduler in self.schedulers:
                scheduler.step()
            torch.save({"G": self.ema.module.state_dict(), "epoch": epoch},
                       os.path.join(self.cfg.out, f"epoch_{epoch}.pt"))
            print(f"epoch {epoch}: D {d_loss:.4f} G {g_loss:.4f}")


if __name__ == "__main__":
    torch.manual_seed(21)
    GANTrainer(Config()).fit()
