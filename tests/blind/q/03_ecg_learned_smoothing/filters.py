"""Learnable signal filters."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class GaussianSmoothing(nn.Module):
    """Smooths each lead with a Gaussian window whose width is a parameter."""

    def __init__(self, leads, taps=15, sigma=2.0):
        super().__init__()
        self.leads = leads
        self.log_sigma = nn.Parameter(torch.full((leads, 1), math.log(sigma)))
        self.register_buffer("offsets", torch.arange(taps).float() - taps // 2)

        window = torch.exp(-0.5 * (self.offsets / self.log_sigma.exp()) ** 2)
        self.kernel = (window / window.sum(dim=1, keepdim=True)).unsqueeze(1)

    def forward(self, x):
        padding = self.offsets.numel() // 2
        return F.conv1d(x, self.kernel, padding=padding, groups=self.leads)
