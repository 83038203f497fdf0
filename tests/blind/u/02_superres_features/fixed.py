"""x2 super-resolution of synthetic textures, trained with a pixel loss and a feature-space loss."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    images: int = 48
    patch: int = 24
    batch: int = 8
    epochs: int = 6
    lr: float = 2e-3
    pixel_weight: float = 1.0
    feature_weight: float = 2.0
    seed: int = 11


def textures(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    yy, xx = torch.meshgrid(torch.arange(cfg.patch).float(), torch.arange(cfg.patch).float(), indexing="ij")
    pics = []
    for _ in range(cfg.images):
        fx, fy, ph = torch.rand(3, generator=g)
        wave = torch.sin(fx * xx + fy * yy + 6.28 * ph)
        edge = (xx * (fx - 0.5) + yy * (fy - 0.5) > 0).float()
        pics.append(torch.stack([0.5 + 0.3 * wave, edge, 0.5 * edge + 0.2 * wave + 0.2]))
    hr = torch.stack(pics).clamp(0, 1)
    lr = F.avg_pool2d(hr, 2)
    return TensorDataset(lr, hr)


class ResBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU(), nn.Conv2d(ch, ch, 3, padding=1))

    def forward(self, x):
        return x + 0.2 * self.body(x)


class Upscaler(nn.Module):
    def __init__(self, ch=16, blocks=2):
        super().__init__()
        self.head = nn.Conv2d(3, ch, 3, padding=1)
        self.trunk = nn.Sequential(*[ResBlock(ch) for _ in range(blocks)])
        self.tail = nn.Sequential(nn.Conv2d(ch, 12, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, x):
        base = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        return base + self.tail(self.trunk(self.head(x)))


class FeatureLoss(nn.Module):
    """Distance of two pictures in the feature space of a fixed network."""

    def __init__(self):
        super().__init__()
        self.extractor = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.LeakyReLU(0.1), nn.Conv2d(16, 16, 3, stride=2, padding=1)
        )
        for p in self.extractor.parameters():
            p.requires_grad_(False)
        self.extractor.eval()

    def forward(self, sr, hr):
        feat_sr = self.extractor(sr)
        with torch.no_grad():
            feat_hr = self.extractor(hr)
        return F.l1_loss(feat_sr, feat_hr)


def psnr(sr, hr):
    return -10 * torch.log10(F.mse_loss(sr.clamp(0, 1), hr))


def train(cfg):
    torch.manual_seed(cfg.seed)
    data = textures(cfg)
    loader = DataLoader(data, batch_size=cfg.batch, shuffle=True)
    model = Upscaler()
    feature_loss = FeatureLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        sums = {"pixel": 0.0, "feature": 0.0, "psnr": 0.0}
        for lr_img, hr_img in loader:
            sr_img = model(lr_img)
            pixel = F.l1_loss(sr_img, hr_img)
            feature = feature_loss(sr_img, hr_img)
            loss = cfg.pixel_weight * pixel + cfg.feature_weight * feature
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums["pixel"] += pixel.item()
            sums["feature"] += feature.item()
            sums["psnr"] += psnr(sr_img.detach(), hr_img).item()
        print(f"epoch {epoch} " + " ".join(f"{k} {v / len(loader):.4f}" for k, v in sums.items()))


if __name__ == "__main__":
    train(Config())
