"""Gaussian process forecast of a noisy daily load curve.

Lengthscale, outputscale and noise are fitted by maximising the log marginal
likelihood with Adam; then the held-out hours are predicted.
"""
import math

import torch
import torch.nn as nn

torch.manual_seed(41)
torch.set_default_dtype(torch.float64)


class ExactGP(nn.Module):
    def __init__(self, x, y):
        super().__init__()
        self.register_buffer("x", x)
        self.register_buffer("y", y)
        self.log_lengthscale = nn.Parameter(torch.tensor(0.0))
        self.log_outputscale = nn.Parameter(torch.tensor(0.0))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def kernel(self, a, b):
        d = (a[:, None] - b[None, :]) / self.log_lengthscale.exp()
        return self.log_outputscale.exp() * torch.exp(-0.5 * d ** 2)

    @property
    def chol(self):
        K = self.kernel(self.x, self.x)
        return torch.linalg.cholesky(K + self.log_noise.exp() * torch.eye(len(self.x)))

    def solve(self, rhs):
        return torch.cholesky_solve(rhs, self.chol)

    def nll(self):
        y = self.y[:, None]
        fit = 0.5 * (y * self.solve(y)).sum()
        complexity = self.chol.diagonal().log().sum()
        return fit + complexity + 0.5 * len(y) * math.log(2 * math.pi)

    def predict(self, x_new):
        k = self.kernel(x_new, self.x)
        mean = k @ self.solve(self.y[:, None])
        var = self.log_outputscale.exp() - (k * self.solve(k.t()).t()).sum(1)
        return mean.squeeze(1), var


hours = torch.linspace(0, 24, 73)
load = torch.sin(hours / 24 * 6.2832) + 0.4 * torch.sin(hours / 8 * 6.2832)
load = load + 0.1 * torch.randn_like(load)

held_out = torch.arange(len(hours)) % 4 == 0
gp = ExactGP(hours[~held_out], load[~held_out])
optimizer = torch.optim.Adam(gp.parameters(), lr=0.1)

for step in range(60):
    optimizer.zero_grad()
    loss = gp.nll()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        ls, noise = gp.log_lengthscale.exp().item(), gp.log_noise.exp().item()
        print(f"step {step:2d}  nll {loss.item():8.3f}  lengthscale {ls:.3f}  noise {noise:.4f}")

with torch.no_grad():
    mean, var = gp.predict(hours[held_out])
rmse = (mean - load[held_out]).pow(2).mean().sqrt()
print(f"held-out rmse {rmse:.4f}  mean std {var.sqrt().mean():.4f}")
