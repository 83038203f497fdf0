"""Denoising diffusion in one dimension with a learned noise schedule."""
import torch
import torch.nn as nn
import torch.nn.functional as F

STEPS = 40


class Schedule(nn.Module):
    """A monotone schedule: log-SNR falls by learned, positive amounts."""

    def __init__(self):
        super().__init__()
        self.drops = nn.Parameter(torch.full((STEPS,), -1.4))
        self.start = nn.Parameter(torch.tensor(5.0))

    @property
    def log_snr(self):
        return self.start - F.softplus(self.drops).cumsum(0)

    def coefficients(self, t):
        alpha_bar = torch.sigmoid(self.log_snr[t])
        return alpha_bar.sqrt()[:, None], (1 - alpha_bar).sqrt()[:, None]

    def weight(self, t):
        """Weight of step t in the bound: how much the SNR falls there."""
        snr = self.log_snr.exp()
        before = torch.cat([self.start.exp()[None], snr[:-1]])
        return (before - snr)[t].clamp(max=5.0)


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.time = nn.Embedding(STEPS, 16)
        self.net = nn.Sequential(nn.Linear(17, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], 1))


def bimodal(n):
    return torch.where(torch.rand(n, 1) < 0.5, -1.0, 1.0) + 0.15 * torch.randn(n, 1)


torch.manual_seed(22)
schedule, denoiser = Schedule(), Denoiser()
optimizer = torch.optim.Adam([
    {"params": denoiser.parameters(), "lr": 3e-3},
    {"params": schedule.parameters(), "lr": 1e-2},
])
for epoch in range(6):
    total = 0.0
    for _ in range(20):
        x = bimodal(128)
        t = torch.randint(STEPS, (128,))
        signal, noise_level = schedule.coefficients(t)
        noise = torch.randn_like(x)
        guess = denoiser(signal * x + noise_level * noise, t)
        loss = (schedule.weight(t)[:, None] * (guess - x) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 20
    ends = schedule.log_snr.detach()[[0, -1]].tolist()
    print(f"epoch {epoch}: bound {total:.4f}, log-SNR from {ends[0]:.2f} to {ends[1]:.2f}")
