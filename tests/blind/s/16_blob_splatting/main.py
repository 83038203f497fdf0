"""Fit a handful of soft 2-D blobs to a small grayscale picture."""
import argparse

import torch
from torch import nn


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--size", type=int, default=24)
    p.add_argument("--blobs", type=int, default=12)
    p.add_argument("--iters", type=int, default=50)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


def pixel_grid(size):
    axis = torch.linspace(-1.0, 1.0, size)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    return torch.stack([xx, yy], dim=-1).reshape(-1, 2)


def make_picture(grid):
    """A ring with a bright spot in its middle."""
    radius = grid.norm(dim=1)
    ring = torch.exp(-((radius - 0.6) ** 2) / 0.02)
    spot = torch.exp(-(radius ** 2) / 0.03)
    return (0.8 * ring + spot).clamp(0, 1)


class Blobs(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.centers = nn.Parameter(torch.rand(count, 2) * 1.6 - 0.8)
        self.log_scale = nn.Parameter(torch.full((count,), -1.5))
        self.brightness = nn.Parameter(torch.full((count,), 0.3))

    def footprints(self, grid):
        """Weight of every blob at every pixel, (pixels, blobs)."""
        d2 = (grid[:, None, :] - self.centers[None]).pow(2).sum(-1)
        return torch.exp(-0.5 * d2 / torch.exp(2 * self.log_scale))

    def shade(self, weights):
        return weights @ self.brightness


def psnr(image, target):
    return (-10 * torch.log10((image - target).pow(2).mean())).item()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)

    grid = pixel_grid(args.size)
    target = make_picture(grid)
    scene = Blobs(args.blobs)
    optimizer = torch.optim.Adam(scene.parameters(), lr=args.lr)

    print(f"{args.blobs} blobs, {grid.shape[0]} pixels")
    weights = scene.footprints(grid)
    for it in range(args.iters):
        image = scene.shade(weights)
        loss = (image - target).pow(2).mean()

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        if it % 10 == 0 or it == args.iters - 1:
            print(f"iter {it:3d}  loss {loss.item():.5f}  psnr {psnr(image.detach(), target):.2f}")


if __name__ == "__main__":
    main()
