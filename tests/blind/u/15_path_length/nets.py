import torch
import torch.nn as nn
import torch.nn.functional as F


class Mapping(nn.Module):
    def __init__(self, nz, nw):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(nz, nw), nn.LeakyReLU(0.2), nn.Linear(nw, nw))

    def forward(self, z):
        return self.net(F.normalize(z, dim=1))


class Synthesis(nn.Module):
    """A learned constant, modulated by w on the way to an 8x8 picture."""

    def __init__(self, nw, ch=16):
        super().__init__()
        self.const = nn.Parameter(torch.randn(1, ch, 4, 4))
        self.style1, self.style2 = nn.Linear(nw, ch), nn.Linear(nw, ch)
        self.conv1, self.conv2 = nn.Conv2d(ch, ch, 3, padding=1), nn.Conv2d(ch, ch, 3, padding=1)
        self.to_gray = nn.Conv2d(ch, 1, 1)

    def forward(self, w):
        x = self.const * (1 + self.style1(w))[:, :, None, None]
        x = F.leaky_relu(self.conv1(x), 0.2)
        x = F.interpolate(x, scale_factor=2, mode="nearest") * (1 + self.style2(w))[:, :, None, None]
        x = F.leaky_relu(self.conv2(x), 0.2)
        return torch.sigmoid(self.to_gray(x))


class Critic(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, ch, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(ch, 2 * ch, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(8 * ch, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)
