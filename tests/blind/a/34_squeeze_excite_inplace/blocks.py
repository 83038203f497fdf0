"""Residual block with channel attention."""
import torch
from torch import nn


class SEBlock(nn.Module):
    def __init__(self, width, squeeze=2):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(width)
        self.fc1 = nn.Linear(width, width // squeeze)
        self.fc2 = nn.Linear(width // squeeze, width)
        self.act = nn.ReLU(inplace=True)

    def gate(self, x):
        s = self.act(self.fc1(x.mean(dim=(2, 3))))
        return torch.sigmoid(self.fc2(s))[:, :, None, None]

    def forward(self, x):
        skip = x
        x = self.act(self.bn1(self.conv1(x)))
        x = torch.tanh(self.bn2(self.conv2(x)))
        x *= self.gate(x)
        x += skip
        return self.act(x)
