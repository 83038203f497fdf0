"""Neural style transfer on small synthetic pictures: optimise the pixels of one image."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def make_pictures(size, seed):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    disc = ((xx ** 2 + yy ** 2) < 0.4).float()
    content = torch.stack([disc, disc * 0.5, 1 - disc]).unsqueeze(0)
    stripes = 0.5 + 0.5 * torch.sin(14 * xx + 6 * yy)
    style = torch.stack([stripes, 1 - stripes, stripes * 0.3]).unsqueeze(0)
    style = (style + 0.05 * torch.randn(style.shape, generator=g)).clamp(0, 1)
    return content, style


def gram_matrix(feat):
    b, c, h, w = feat.shape
    flat = feat.view(b * c, h * w)
    return flat @ flat.t() / (b * c * h * w)


class Features(nn.Module):
    """Three conv blocks standing in for the first layers of a classifier."""

    def __init__(self):
        super().__init__()
        self.block1 = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU())
        self.block2 = nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(12, 24, 3, padding=1), nn.ReLU())
        self.block3 = nn.Sequential(nn.AvgPool2d(2), nn.Conv2d(24, 32, 3, padding=1), nn.ReLU())

    def forward(self, img):
        out = {}
        out["relu1"] = self.block1((img - 0.5) / 0.25)
        out["relu2"] = self.block2(out["relu1"])
        out["relu3"] = self.block3(out["relu2"])
        return out


class ContentLoss:
    def __init__(self, layer, feats):
        self.layer = layer
        self.target = feats[layer]

    def __call__(self, feats):
        return F.mse_loss(feats[self.layer], self.target)


class StyleLoss:
    def __init__(self, layer, feats):
        self.layer = layer
        self.target = gram_matrix(feats[layer])

    def __call__(self, feats):
        return F.mse_loss(gram_matrix(feats[self.layer]), self.target)


def run(args):
    torch.manual_seed(args.seed)
    content_img, style_img = make_pictures(args.size, args.seed)
    cnn = Features().eval()

    content_losses = [ContentLoss("relu3", cnn(content_img))]
    style_feats = cnn(style_img)
    style_losses = [StyleLoss(name, style_feats) for name in ("relu1", "relu2", "relu3")]

    picture = content_img.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([picture], lr=args.lr)
    for step in range(args.steps):
        optimizer.zero_grad()
        feats = cnn(picture)
        c_loss = sum(cl(feats) for cl in content_losses)
        s_loss = sum(sl(feats) for sl in style_losses)
        loss = args.content_weight * c_loss + args.style_weight * s_loss
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            picture.clamp_(0, 1)
        if step % 10 == 0:
            print(f"step {step:3d} content {c_loss.item():.5f} style {s_loss.item():.3e} total {loss.item():.5f}")
    print("final loss", round(loss.item(), 5))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.03)
    p.add_argument("--content-weight", type=float, default=1.0)
    p.add_argument("--style-weight", type=float, default=2e5)
    p.add_argument("--seed", type=int, default=3)
    run(p.parse_args())
