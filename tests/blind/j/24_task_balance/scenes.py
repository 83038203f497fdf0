"""Synthetic indoor scenes with three kinds of annotation."""
import torch
import torch.nn.functional as F


class Scenes:
    def __init__(self, size=8):
        self.size = size

    def batch(self, count):
        height = F.interpolate(torch.randn(count, 1, 3, 3), size=self.size, mode="bilinear",
                               align_corners=True)
        image = torch.cat([height, height ** 2, torch.tanh(height)], 1)
        image = image + 0.1 * torch.randn_like(image)
        slope_y = F.pad(height[:, :, 1:] - height[:, :, :-1], (0, 0, 0, 1))
        slope_x = F.pad(height[:, :, :, 1:] - height[:, :, :, :-1], (0, 1))
        normal = F.normalize(torch.cat([-slope_x, -slope_y, torch.ones_like(height)], 1), dim=1)
        label = (height.squeeze(1) > 0).long() + (height.squeeze(1) > 0.8).long()
        return image, {"segment": label, "depth": 5 * height, "normal": normal}
