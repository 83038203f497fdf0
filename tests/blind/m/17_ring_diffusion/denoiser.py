import torch
from torch import nn


class Schedule:
    def __init__(self, steps):
        self.steps = steps
        self.beta = torch.linspace(1e-3, 0.25, steps)
        self.keep = torch.cumprod(1 - self.beta, 0)

    def corrupt(self, x0, noise, t):
        keep = self.keep[t].unsqueeze(1)
        return keep.sqrt() * x0 + (1 - keep).sqrt() * noise

    def backstep(self, x, noise, step):
        mean = (x - self.beta[step] / (1 - self.keep[step]).sqrt() * noise) / (1 - self.beta[step]).sqrt()
        if step == 0:
            return mean
        return mean + self.beta[step].sqrt() * torch.randn_like(x)


class Denoiser(nn.Module):
    def __init__(self, steps, width=48):
        super().__init__()
        self.when = nn.Embedding(steps, 8)
        self.net = nn.Sequential(nn.Linear(10, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.when(t)], dim=1))

    @torch.no_grad()
    def predict_noise(self, x, t):
        """The noise in x, in evaluation mode, for the sampler."""
        training = self.training
        self.eval()
        noise = self(x, t)
        self.train(training)
        return noise
