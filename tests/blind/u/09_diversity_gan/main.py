"""GAN on a ring of gaussians with a term that matches the diversity of real and fake features."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def ring(n, gen, modes=6):
    k = torch.randint(0, modes, (n,), generator=gen)
    angle = 2 * math.pi * k / modes
    centers = torch.stack([angle.cos(), angle.sin()], 1)
    return centers + 0.05 * torch.randn(n, 2, generator=gen)


class Generator(nn.Module):
    def __init__(self, nz):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(nz, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 24), nn.LeakyReLU(0.2))
        self.head = nn.Linear(24, 1)

    def forward(self, x, with_features=False):
        feat = self.body(x)
        out = self.head(feat).squeeze(1)
        return (out, feat) if with_features else out


def diversity_loss(real_feat, fake_feat):
    """Compare the spectra of the two similarity kernels."""
    def spectrum(feat):
        feat = F.normalize(feat, dim=1)
        values, vectors = torch.linalg.eigh(feat.t() @ feat / len(feat))
        return values, vectors
    real_val, real_vec = spectrum(real_feat)
    fake_val, fake_vec = spectrum(fake_feat)
    magnitude = F.mse_loss(fake_val, real_val)
    structure = -(real_val * F.cosine_similarity(real_vec, fake_vec, dim=0).abs()).sum()
    return magnitude + structure


def train(opt):
    torch.manual_seed(opt.seed)
    gen = torch.Generator().manual_seed(opt.seed)
    netG, netD = Generator(opt.nz), Discriminator()
    optG = torch.optim.Adam(netG.parameters(), lr=opt.lr, betas=(0.5, 0.999))
    optD = torch.optim.Adam(netD.parameters(), lr=opt.lr, betas=(0.5, 0.999))
    bce = nn.BCEWithLogitsLoss()

    for it in range(opt.iters):
        real = ring(opt.batch, gen)
        ones, zeros = torch.ones(opt.batch), torch.zeros(opt.batch)

        # discriminator
        optD.zero_grad()
        noise = torch.randn(opt.batch, opt.nz, generator=gen)
        fake = netG(noise)
        lossD = bce(netD(real), ones) + bce(netD(fake.detach()), zeros)
        lossD.backward()
        optD.step()

        # generator
        optG.zero_grad()
        pred_fake, feat_fake = netD(fake, with_features=True)
        with torch.no_grad():
            _, feat_real = netD(real, with_features=True)
        lossG_fake = bce(pred_fake, ones)
        lossG_fake.backward()
        lossG_div = opt.diversity * diversity_loss(feat_real, feat_fake)
        lossG_div.backward()
        optG.step()

        if it % 10 == 0 or it == opt.iters - 1:
            print(f"it {it:3d} D {lossD.item():.3f} G {lossG_fake.item():.3f} div {lossG_div.item():.4f} spread {fake.detach().std(0).mean():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=30)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--nz", type=int, default=4)
    parser.add_argument("--diversity", type=float, default=0.5)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=9)
    train(parser.parse_args())
