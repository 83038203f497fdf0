"""Fit the length scale, amplitude and noise of a Gaussian process to daily load curves."""
import math

import torch

torch.manual_seed(21)
torch.set_default_dtype(torch.float64)

hours = torch.linspace(0, 24, 25)


def make_days(count):
    base = torch.sin(2 * math.pi * hours / 24 - 1.2)
    wobble = torch.randn(count, 1) * torch.cos(2 * math.pi * hours / 8)
    return base + 0.4 * wobble + 0.1 * torch.randn(count, len(hours))


class Kernel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_length = torch.nn.Parameter(torch.tensor(0.5))
        self.log_amp = torch.nn.Parameter(torch.tensor(0.0))
        self.log_noise = torch.nn.Parameter(torch.tensor(-2.0))

    def forward(self, t):
        gap = (t[:, None] - t[None, :]) / self.log_length.exp()
        smooth = self.log_amp.exp() ** 2 * torch.exp(-0.5 * gap**2)
        return smooth + self.log_noise.exp() ** 2 * torch.eye(len(t))


def day_nll(curve, chol):
    weights = torch.cholesky_solve(curve[:, None], chol).squeeze(1)
    fit = 0.5 * curve @ weights
    return fit + chol.diagonal().log().sum() + 0.5 * len(curve) * math.log(2 * math.pi)


days = make_days(12)
kernel = Kernel()
adam = torch.optim.Adam(kernel.parameters(), lr=0.05)

# maximise the likelihood, one day per update
for sweep in range(4):
    seen = 0.0
    for curve in days:
        chol = torch.linalg.cholesky(kernel(hours))
        nll = day_nll(curve, chol)
        adam.zero_grad()
        nll.backward()
        adam.step()
        seen += nll.item()
    print(f"sweep {sweep}: nll per day {seen / len(days):.3f}, length {kernel.log_length.exp().item():.3f}")
