"""Toy 2-D Gaussian splatting: K coloured blobs, alpha-composited front to back.

    C(pixel) = sum_k  c_k * alpha_k * prod_{j<k} (1 - alpha_j)

Everything (centres, widths, opacities, colours) is fitted to one target picture.
Depth order is fixed: blob 0 is the nearest.
"""
import math
import torch
from torch import nn


class Splats(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.centre = nn.Parameter(torch.rand(k, 2) * 1.6 - 0.8)
        self.log_width = nn.Parameter(torch.full((k,), math.log(0.35)))
        self.opacity = nn.Parameter(torch.zeros(k))
        self.colour = nn.Parameter(torch.randn(k, 3) * 0.3)

    def alphas(self, pix):
        d2 = ((pix[:, None, :] - self.centre[None]) ** 2).sum(-1)          # P, K
        g = torch.exp(-0.5 * d2 / self.log_width.exp() ** 2)
        return torch.sigmoid(self.opacity) * g


def render(splats, pix, background=None):
    alpha = splats.alphas(pix)
    rgb = torch.sigmoid(splats.colour)
    image = torch.zeros(pix.shape[0], 3)
    transmittance = torch.ones(pix.shape[0], 1)
    for k in range(alpha.shape[1]):
        a_k = alpha[:, k:k + 1]
        weight = transmittance * a_k
        image += weight * rgb[k]
        transmittance *= 1.0 - a_k
    if background is not None:
        image += transmittance * background
    return image


def pixel_grid(n):
    t = torch.linspace(-1, 1, n)
    yy, xx = torch.meshgrid(t, t, indexing="ij")
    return torch.stack([xx, yy], -1).reshape(-1, 2)


def target_picture(pix):
    disc = (pix.norm(dim=1) < 0.6).float()
    stripe = (pix[:, 0].abs() < 0.2).float()
    return torch.stack([disc, stripe * disc, 1 - disc], -1)


def main():
    torch.manual_seed(8)
    pix = pixel_grid(20)
    target = target_picture(pix)
    splats = Splats(6)
    background = torch.tensor([0.1, 0.1, 0.9])
    opt = torch.optim.Adam([
        {"params": [splats.centre, splats.log_width], "lr": 0.02},
        {"params": [splats.opacity, splats.colour], "lr": 0.1},
    ])
    for it in range(25):
        out = render(splats, pix, background)
        loss = (out - target).abs().mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if it % 8 == 0:
            psnr = -10 * torch.log10(((out - target) ** 2).mean()).item()
            print(f"it {it:2d}  l1 {loss.item():.4f}  psnr {psnr:.2f}")


main()
