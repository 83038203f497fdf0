"""Super-resolution of star fields.

The generator is trained with a pixel loss and a perceptual loss, the distance
of the features of a frozen network between output and target.
"""
import torch
from torch import nn
import torch.nn.functional as F

from losses import PerceptualLoss


class Upscaler(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, 4, 3, padding=1),
            nn.PixelShuffle(2),
        )

    def forward(self, low):
        base = F.interpolate(low, scale_factor=2, mode="bilinear", align_corners=False)
        return base + self.body(low)


def star_fields(n, size=24):
    field = torch.zeros(n, 1, size, size)
    for k in range(n):
        pos = torch.randint(0, size, (12, 2))
        field[k, 0, pos[:, 0], pos[:, 1]] = 1.0 + torch.rand(12)
    kernel = torch.tensor([[0.05, 0.2, 0.05], [0.2, 1.0, 0.2], [0.05, 0.2, 0.05]])
    return F.conv2d(field, kernel[None, None], padding=1)


def main():
    torch.manual_seed(36)
    generator = Upscaler()
    perceptual = PerceptualLoss()
    optimizer = torch.optim.Adam(generator.parameters(), lr=3e-3)
    perceptual_weight = 50.0

    for step in range(60):
        high = star_fields(8)
        low = F.avg_pool2d(high, 2)
        output = generator(low)

        pixel_loss = F.l1_loss(output, high)
        perceptual_loss = perceptual(output, high)
        loss = pixel_loss + perceptual_weight * perceptual_loss

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0 or step == 59:
            print(f"step {step:2d}  pixel {pixel_loss.item():.4f}  perceptual {perceptual_loss.item():.4f}")


if __name__ == "__main__":
    main()
