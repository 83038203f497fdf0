"""Residual CNN that removes noise from small synthetic micrographs.

Trained with a Charbonnier loss.  Edge error and PSNR are reported as averages
over the whole run.
"""
import argparse

import torch
import torch.nn as nn

from meters import MeterGroup


class Denoiser(nn.Module):
    def __init__(self, width=16, depth=3):
        super().__init__()
        layers = [nn.Conv2d(1, width, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 2):
            layers += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU()]
        layers.append(nn.Conv2d(width, 1, 3, padding=1))
        self.body = nn.Sequential(*layers)

    def forward(self, noisy):
        return noisy - self.body(noisy)


def sample_batch(n, size, sigma):
    grid = torch.linspace(0, 1, size)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    freq = 2 + 6 * torch.rand(n, 1, 1, 1)
    phase = 6.283 * torch.rand(n, 1, 1, 1)
    angle = 3.1416 * torch.rand(n, 1, 1, 1)
    wave = torch.sin(freq * 6.283 * (xx * torch.cos(angle) + yy * torch.sin(angle)) + phase)
    clean = torch.sigmoid(4 * wave)
    return clean, clean + sigma * torch.randn_like(clean)


def charbonnier(pred, clean, eps=1e-3):
    return torch.sqrt((pred - clean) ** 2 + eps ** 2).mean()


def edge_error(pred, clean):
    def grads(img):
        return img[..., :, 1:] - img[..., :, :-1], img[..., 1:, :] - img[..., :-1, :]

    (px, py), (cx, cy) = grads(pred), grads(clean)
    return (px - cx).abs().mean() + (py - cy).abs().mean()


def psnr(pred, clean):
    return -10 * torch.log10(((pred - clean) ** 2).mean())


class Trainer:
    def __init__(self, args):
        self.args = args
        self.model = Denoiser()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.meters = MeterGroup("loss", "edge", "psnr")

    def log_stats(self, stats, n):
        for name, value in stats.items():
            self.meters[name].update(value.item(), n)

    def train_step(self):
        clean, noisy = sample_batch(self.args.batch, self.args.size, self.args.sigma)
        pred = self.model(noisy)
        loss = charbonnier(pred, clean)

        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

        stats = {"loss": loss, "edge": edge_error(pred, clean), "psnr": psnr(pred, clean)}
        self.log_stats(stats, len(clean))

    def run(self):
        for step in range(1, self.args.steps + 1):
            self.train_step()
            if step % 20 == 0:
                print(f"step {step:4d}  {self.meters.line()}")


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=24)
    parser.add_argument("--sigma", type=float, default=0.25)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    trainer = Trainer(args)
    trainer.run()
    return trainer


if __name__ == "__main__":
    main()
