"""Layers of the speaker encoder."""
import torch
import torch.nn as nn


class RunningRMSNorm(nn.Module):
    """Divide by a running estimate of the root mean square per channel."""

    def __init__(self, channels, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum = momentum
        self.eps = eps
        self.register_buffer("rms", torch.ones(channels))

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                batch_rms = x.pow(2).mean(dim=0).add(self.eps).sqrt()
                self.rms.lerp_(batch_rms, self.momentum)
        return x / self.rms


class SpeakerEncoder(nn.Module):
    def __init__(self, bands=20, width=48, dim=16):
        super().__init__()
        self.frame = nn.Linear(bands, width)
        self.norm = RunningRMSNorm(width)
        self.proj = nn.Linear(width, dim)

    def forward(self, frames):
        h = torch.relu(self.frame(frames)).mean(dim=1)
        return nn.functional.normalize(self.proj(self.norm(h)), dim=-1)
