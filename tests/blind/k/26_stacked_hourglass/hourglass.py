"""Stacked hourglass network for keypoints (Newell et al., 2016), very small."""
import torch.nn as nn
import torch.nn.functional as F


class Residual(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(ch, ch // 2, 1), nn.ReLU(),
                                  nn.Conv2d(ch // 2, ch, 3, padding=1))

    def forward(self, x):
        return F.relu(x + self.body(x))


class Hourglass(nn.Module):
    def __init__(self, ch, depth):
        super().__init__()
        self.skip = Residual(ch)
        self.down = Residual(ch)
        self.inner = Hourglass(ch, depth - 1) if depth > 1 else Residual(ch)
        self.up = Residual(ch)

    def forward(self, x):
        low = self.up(self.inner(self.down(F.max_pool2d(x, 2))))
        return self.skip(x) + F.interpolate(low, scale_factor=2)


class Stage(nn.Module):
    def __init__(self, ch, keypoints, last):
        super().__init__()
        self.hourglass = Hourglass(ch, depth=2)
        self.features = nn.Conv2d(ch, ch, 1)
        self.heat = nn.Conv2d(ch, keypoints, 1)
        self.remap = None if last else nn.Conv2d(keypoints, ch, 1)

    def forward(self, x):
        h = F.relu(self.features(self.hourglass(x)))
        heat = self.heat(h)
        if self.remap is None:
            return heat, None
        return heat, x + h + self.remap(heat)


class StackedHourglass(nn.Module):
    def __init__(self, stacks=3, ch=8, keypoints=2):
        super().__init__()
        self.stem = nn.Conv2d(1, ch, 3, padding=1)
        self.stages = nn.ModuleList(
            [Stage(ch, keypoints, last=i == stacks - 1) for i in range(stacks)])

    def forward(self, image):
        x = F.relu(self.stem(image))
        heatmaps = []
        for stage in self.stages:
            heat, x = stage(x)
            heatmaps.append(heat)
        return heatmaps
