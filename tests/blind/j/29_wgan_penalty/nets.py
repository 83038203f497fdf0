"""Generator and critic for short price curves."""
import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self, noise=6, length=16, hidden=32):
        super().__init__()
        self.noise = noise
        self.net = nn.Sequential(
            nn.Linear(noise, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, length)
        )

    def forward(self, count):
        return self.net(torch.randn(count, self.noise)).cumsum(1) * 0.3


class Critic(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(1, 8, 5, padding=2), nn.SiLU(), nn.Conv1d(8, 8, 5, padding=2), nn.SiLU())
        self.score = nn.Sequential(nn.Linear(8 * 16, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, curves):
        return self.score(self.features(curves.unsqueeze(1)).flatten(1)).squeeze(1)


class SlowCopy:
    """Averaged weights of the generator, for sampling."""

    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.weights = {k: v.detach().clone() for k, v in model.state_dict().items()}

    @torch.no_grad()
    def follow(self, model):
        for k, v in model.state_dict().items():
            self.weights[k].mul_(self.decay).add_(v, alpha=1 - self.decay)
