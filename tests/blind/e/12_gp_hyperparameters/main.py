"""Exact Gaussian-process regression; the hyperparameters maximise the marginal likelihood."""
import math
from functools import cached_property

import torch
import torch.nn as nn


class GaussianProcess(nn.Module):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y
        self.log_length = nn.Parameter(torch.tensor(1.0))
        self.log_scale = nn.Parameter(torch.tensor(0.0))
        self.log_noise = nn.Parameter(torch.tensor(0.0))

    def kernel(self, a, b):
        sq = (a[:, None] - b[None, :]).pow(2)
        return self.log_scale.exp() * torch.exp(-0.5 * sq / self.log_length.exp().pow(2))

    @cached_property
    def cholesky(self):
        """Factor of the training covariance; cubic in the number of points, and needed in several places."""
        n = len(self.x)
        return torch.linalg.cholesky(self.kernel(self.x, self.x) + self.log_noise.exp() * torch.eye(n))

    @property
    def weights(self):
        return torch.cholesky_solve(self.y[:, None], self.cholesky).squeeze(1)

    def nll(self):
        log_det = 2 * self.cholesky.diagonal().log().sum()
        return 0.5 * (self.y @ self.weights + log_det + len(self.x) * math.log(2 * math.pi)) / len(self.x)

    @torch.no_grad()
    def predict(self, x_new):
        cross = self.kernel(x_new, self.x)
        mean = cross @ self.weights
        inner = torch.linalg.solve_triangular(self.cholesky, cross.T, upper=False)
        return mean, self.log_scale.exp() - inner.pow(2).sum(dim=0)


def fit(gp, iterations=60, lr=0.1):
    optimizer = torch.optim.Adam(gp.parameters(), lr=lr)
    for i in range(iterations):
        optimizer.zero_grad()
        loss = gp.nll()
        loss.backward()
        optimizer.step()
        if i % 15 == 0 or i == iterations - 1:
            values = {name: round(p.exp().item(), 3) for name, p in gp.named_parameters()}
            print(f"{i:3d} nll {loss.item():.4f} {values}")


if __name__ == "__main__":
    torch.manual_seed(31)
    x = torch.sort(torch.rand(40) * 10).values
    y = torch.sin(x) + 0.3 * torch.cos(3 * x) + 0.1 * torch.randn(40)
    gp = GaussianProcess(x, y)
    fit(gp)
    grid = torch.linspace(0, 10, 50)
    mean, variance = gp.predict(grid)
    rmse = (mean - torch.sin(grid) - 0.3 * torch.cos(3 * grid)).pow(2).mean().sqrt()
    print(f"rmse on the grid {rmse.item():.4f}, mean variance {variance.mean().item():.4f}")
