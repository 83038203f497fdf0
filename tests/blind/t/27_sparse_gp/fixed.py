"""Sparse variational Gaussian process regression (whitened inducing values) on a wavy signal."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Options:
    points: int = 200
    inducing: int = 14
    batch_size: int = 50
    epochs: int = 15
    lr: float = 0.1
    jitter: float = 1e-4


def wavy_signal(n):
    g = torch.Generator().manual_seed(2)
    x = 6 * torch.rand(n, 1, generator=g, dtype=torch.float64) - 3
    y = torch.sin(3 * x[:, 0]) + 0.5 * x[:, 0] + 0.15 * torch.randn(n, generator=g, dtype=torch.float64)
    return x, y


class RBF(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_length = nn.Parameter(torch.tensor(-0.5, dtype=torch.float64))
        self.log_scale = nn.Parameter(torch.tensor(0.0, dtype=torch.float64))

    def forward(self, a, b):
        sq = (a[:, None, :] - b[None, :, :]).pow(2).sum(-1)
        return (2 * self.log_scale).exp() * torch.exp(-0.5 * sq * (-2 * self.log_length).exp())

    def diagonal(self, a):
        return (2 * self.log_scale).exp().expand(len(a))


class SparseGP(nn.Module):
    def __init__(self, inducing_points, n_data, jitter):
        super().__init__()
        m = len(inducing_points)
        self.n_data, self.jitter = n_data, jitter
        self.kernel = RBF()
        self.Z = nn.Parameter(inducing_points.clone())
        self.q_mean = nn.Parameter(torch.zeros(m, dtype=torch.float64))
        self.q_root = nn.Parameter(torch.eye(m, dtype=torch.float64))
        self.log_noise = nn.Parameter(torch.tensor(-1.0, dtype=torch.float64))

    def inducing_cholesky(self):
        k_zz = self.kernel(self.Z, self.Z)
        eye = torch.eye(len(self.Z), dtype=k_zz.dtype)
        return torch.linalg.cholesky(k_zz + self.jitter * eye)

    def forward(self, x):
        a = torch.linalg.solve_triangular(self.inducing_cholesky(), self.kernel(self.Z, x), upper=False)
        root = self.q_root.tril()
        mean = a.t() @ self.q_mean
        var = self.kernel.diagonal(x) - a.pow(2).sum(0) + (root.t() @ a).pow(2).sum(0)
        return mean, var.clamp(min=1e-6)

    def kl(self):
        root = self.q_root.tril()
        logdet = root.diagonal().abs().clamp(min=1e-8).log().sum()
        return 0.5 * (root.pow(2).sum() + self.q_mean.pow(2).sum() - len(self.q_mean)) - logdet

    def negative_elbo(self, x, y):
        mean, var = self(x)
        noise = (2 * self.log_noise).exp()
        fit = 0.5 * ((y - mean).pow(2) + var) / noise + self.log_noise
        return fit.mean() + self.kl() / self.n_data


def main():
    opt = Options()
    torch.manual_seed(0)
    x, y = wavy_signal(opt.points)
    start = torch.linspace(-3, 3, opt.inducing, dtype=torch.float64)[:, None]
    gp = SparseGP(start, opt.points, opt.jitter)
    optimizer = torch.optim.Adam(gp.parameters(), lr=opt.lr)
    for epoch in range(opt.epochs):
        total = 0.0
        for idx in torch.randperm(len(x)).split(opt.batch_size):
            loss = gp.negative_elbo(x[idx], y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        if epoch % 2 == 0:
            length, noise = gp.kernel.log_length.exp().item(), gp.log_noise.exp().item()
            print(f"epoch {epoch:2d}: -elbo {total / len(x):.4f}  length {length:.3f}  noise {noise:.3f}")
    with torch.no_grad():
        print(f"train rmse {F.mse_loss(gp(x)[0], y).sqrt().item():.4f}")


if __name__ == "__main__":
    main()
