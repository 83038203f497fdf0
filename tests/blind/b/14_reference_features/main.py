"""Denoiser conditioned on a reference image; noisy frames come in micro-batches."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from scaler import NativeScaler


@dataclass
class Config:
    steps: int = 6
    gradient_accumulation_steps: int = 3
    micro_batch: int = 4
    width: int = 10
    lr: float = 4e-3
    max_grad_norm: float = 2.0


class ReferenceNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 16), nn.SiLU(), nn.Linear(16, 16))

    def forward(self, image):
        return self.net(image)


class Denoiser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inp = nn.Linear(width + 1, 16)
        self.cond = nn.Linear(16, 16)
        self.out = nn.Linear(16, width)

    def forward(self, noisy, level, reference):
        h = self.inp(torch.cat([noisy, level], dim=1))
        return self.out(F.silu(h + self.cond(reference)))


class Video:
    """Frames of one clip are noisy copies of its reference."""

    def __init__(self, width):
        self.mix = torch.randn(width, width) / width ** 0.5

    def clip(self, cfg):
        reference = torch.randn(1, cfg.width)
        for_one = cfg.micro_batch * cfg.gradient_accumulation_steps
        frames = reference @ self.mix + 0.1 * torch.randn(for_one, cfg.width)
        return reference, frames.split(cfg.micro_batch)


def add_noise(frames):
    level = torch.rand(len(frames), 1)
    noise = torch.randn_like(frames)
    return (1 - level) * frames + level * noise, level, noise


def train(cfg):
    reference_net, denoiser = ReferenceNet(cfg.width), Denoiser(cfg.width)
    params = list(reference_net.parameters()) + list(denoiser.parameters())
    optimizer = torch.optim.AdamW(params, lr=cfg.lr)
    loss_scaler = NativeScaler()
    video = Video(cfg.width)

    for global_step in range(cfg.steps):
        reference_image, micro_batches = video.clip(cfg)
        reference = reference_net(reference_image)
        train_loss, grad_norm = 0.0, None
        for i, frames in enumerate(micro_batches):
            noisy, level, noise = add_noise(frames)
            pred = denoiser(noisy, level, reference)
            loss = F.mse_loss(pred, noise) / cfg.gradient_accumulation_steps
            train_loss += loss.item()
            update = (i + 1) % cfg.gradient_accumulation_steps == 0
            grad_norm = loss_scaler(loss, optimizer, params, clip_grad=cfg.max_grad_norm, update_grad=update)
        print(f"step {global_step}: loss {train_loss:.4f} grad_norm {grad_norm:.3f}")


def main():
    torch.manual_seed(14)
    train(Config())


if __name__ == "__main__":
    main()
