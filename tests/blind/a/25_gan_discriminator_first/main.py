"""GAN on a ring of Gaussians, discriminator update first."""
import math
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LATENT = 4


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


def ring(n=96):
    angle = 2 * math.pi * torch.randint(0, 6, (n,)) / 6
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.3)
        nn.init.zeros_(m.bias)


def save(step, netG, netD):
    os.makedirs("out", exist_ok=True)
    torch.save({"step": step, "G": netG.state_dict(), "D": netD.state_dict()}, "out/gan.pt")


def main():
    torch.manual_seed(25)
    loader = DataLoader(TensorDataset(ring()), batch_size=16, shuffle=True, drop_last=True)
    netG, netD = mlp(LATENT, 16, 16, 2).apply(weights_init), mlp(2, 16, 16, 1).apply(weights_init)
    criterion = nn.BCEWithLogitsLoss()
    optD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
    optG = torch.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
    fixed_noise = torch.randn(32, LATENT)
    real_label, fake_label = torch.ones(16, 1), torch.zeros(16, 1)
    step = 0
    for epoch in range(5):
        for (real,) in loader:
            fake = netG(torch.randn(16, LATENT))
            # (1) discriminator
            optD.zero_grad()
            lossD = criterion(netD(real), real_label) + criterion(netD(fake), fake_label)
            lossD.backward()
            optD.step()
            # (2) generator
            optG.zero_grad()
            lossG = criterion(netD(fake), real_label)
            lossG.backward()
            optG.step()
            step += 1
        with torch.no_grad():
            radius = netG(fixed_noise).norm(dim=1).mean().item()
        save(step, netG, netD)
        print(f"epoch {epoch}: D {lossD.item():.4f} G {lossG.item():.4f} radius {radius:.3f}")


if __name__ == "__main__":
    main()
