"""Factor autoencoder: total correlation is estimated by a discriminator on the code."""
import csv
import os
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional as F


class FactorVAE(nn.Module):
    def __init__(self, width=10, z_dim=4):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, 2 * z_dim))
        self.decode = nn.Sequential(nn.Linear(z_dim, 16), nn.ReLU(), nn.Linear(16, width))

    def forward(self, x):
        mu, logvar = self.encode(x).chunk(2, dim=1)
        z = mu + (0.5 * logvar).exp() * torch.randn_like(mu)
        return self.decode(z), mu, logvar, z


class Discriminator(nn.Module):
    def __init__(self, z_dim=4):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(z_dim, 12), nn.LeakyReLU(0.2), nn.Linear(12, 2))

    def forward(self, z):
        return self.net(z)


def permute_dims(z):
    return torch.cat([z_j[torch.randperm(z.shape[0])] for z_j in z.split(1, 1)], 1)


def kl_divergence(mu, logvar):
    return -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()


class Solver:
    def __init__(self, args):
        self.gamma = args.gamma
        self.max_iter = args.max_iter
        self.batch_size = args.batch_size
        self.log_file = os.path.join(args.output_dir, "log.csv")
        os.makedirs(args.output_dir, exist_ok=True)
        self.VAE = FactorVAE()
        self.D = Discriminator()
        self.optim_VAE = torch.optim.Adam(self.VAE.parameters(), lr=args.lr_VAE, betas=(0.9, 0.999))
        self.optim_D = torch.optim.Adam(self.D.parameters(), lr=args.lr_D, betas=(0.5, 0.9))

    def sample(self):
        factors = torch.rand(self.batch_size, 2)
        return torch.cat([factors.repeat(1, 4), factors.prod(1, keepdim=True), factors.sum(1, keepdim=True)], 1)

    def train(self):
        ones = torch.ones(self.batch_size, dtype=torch.long)
        zeros = torch.zeros(self.batch_size, dtype=torch.long)
        with open(self.log_file, "w", newline="") as handle:
            writer = csv.writer(handle)
            writer.writerow(["iter", "recon", "kld", "tc", "d_tc"])
            for it in range(self.max_iter):
                x_true = self.sample()
                x_recon, mu, logvar, z = self.VAE(x_true)
                vae_recon_loss = F.mse_loss(x_recon, x_true)
                vae_kld = kl_divergence(mu, logvar)
                D_z = self.D(z)
                vae_tc_loss = (D_z[:, 0] - D_z[:, 1]).mean()
                vae_loss = vae_recon_loss + 0.01 * vae_kld + self.gamma * vae_tc_loss

                self.optim_VAE.zero_grad()
                vae_loss.backward()
                self.optim_VAE.step()

                x_true2 = self.sample()
                with torch.no_grad():
                    z_prime = self.VAE(x_true2)[3]
                z_pperm = permute_dims(z_prime)
                D_z = self.D(z.detach())
                D_z_pperm = self.D(z_pperm)
                D_tc_loss = 0.5 * (F.cross_entropy(D_z, zeros) + F.cross_entropy(D_z_pperm, ones))

                self.optim_D.zero_grad()
                D_tc_loss.backward()
                self.optim_D.step()

                row = [it] + [round(v.item(), 4) for v in (vae_recon_loss, vae_kld, vae_tc_loss, D_tc_loss)]
                writer.writerow(row)
                print("[{}] recon {} kld {} tc {} D_tc {}".format(*row))


def main():
    torch.manual_seed(15)
    args = SimpleNamespace(gamma=0.5, max_iter=10, batch_size=12, lr_VAE=5e-3, lr_D=2e-3, output_dir="outputs")
    Solver(args).train()


if __name__ == "__main__":
    main()
