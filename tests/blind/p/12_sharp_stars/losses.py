import torch
from torch import nn
import torch.nn.functional as F


class FrozenFeatures(nn.Module):
    """Fixed random convolutional features (stand-in for a pretrained VGG)."""

    def __init__(self, width=12):
        super().__init__()
        self.layers = nn.ModuleList([
            nn.Conv2d(1, width, 3, padding=1),
            nn.Conv2d(width, width, 3, padding=1, stride=2),
        ])
        for p in self.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def forward(self, x):
        feats = []
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.2)
            feats.append(x)
        return feats


class PerceptualLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = FrozenFeatures()

    def forward(self, output, target):
        pairs = zip(self.features(output), self.features(target))
        return sum(F.mse_loss(a, b) for a, b in pairs)
