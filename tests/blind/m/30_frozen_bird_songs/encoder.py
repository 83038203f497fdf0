import torch
from torch import nn


class SongEncoder(nn.Module):
    """Random convolutional features, in place of a pretrained network."""

    def __init__(self, channels=16):
        super().__init__()
        self.conv = nn.Conv1d(1, channels, 7, stride=2)
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, sound):
        x = torch.relu(self.norm(self.conv(sound.unsqueeze(1))))
        return torch.cat([x.mean(-1), x.amax(-1)], dim=1)
