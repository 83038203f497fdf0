"""Momentum contrast on satellite tiles.

A query (one augmented view of a tile) must be closer to the key of the other view than to the
keys in the bank, which come from earlier batches. After it has served, a batch's keys join
the bank. The query encoder is trained; keys are constants.
"""
import torch
import torch.nn.functional as F
from torch import nn

from memory_fixed import KeyBank, MomentumEncoder


class Config:
    steps = 40
    batch = 16
    dim = 12
    bank = 64
    momentum = 0.95
    temperature = 0.2
    lr = 5e-3


class TileEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.project = nn.Sequential(nn.Linear(16 * 4, 24), nn.ReLU(), nn.Linear(24, dim))

    def forward(self, tiles):
        h = F.relu(self.conv2(F.relu(self.conv(tiles))))
        return F.normalize(self.project(h.flatten(1)), dim=1)


class Tiles:
    """Random landscapes; two noisy crops of one landscape make a pair."""

    def __init__(self, count=60):
        coarse = torch.randn(count, 3, 4, 4)
        self.images = F.interpolate(coarse, size=10, mode="bilinear", align_corners=False)

    def view(self, images):
        top, left = torch.randint(0, 3, (2,)).tolist()
        crop = images[:, :, top:top + 8, left:left + 8]
        return crop + 0.1 * torch.randn_like(crop)

    def pairs(self, size):
        picked = self.images[torch.randperm(len(self.images))[:size]]
        return self.view(picked), self.view(picked)


class MomentumContrast:
    def __init__(self, cfg):
        self.cfg = cfg
        self.encoder = TileEncoder(cfg.dim)
        self.teacher = MomentumEncoder(self.encoder, cfg.momentum)
        self.bank = KeyBank(cfg.dim, cfg.bank)
        self.optimizer = torch.optim.SGD(self.encoder.parameters(), lr=cfg.lr * 10, momentum=0.9)

    def contrast(self, first, second):
        """InfoNCE of the queries against their own key and the bank."""
        queries = self.encoder(first)
        keys = self.teacher(second)
        positive = (queries * keys).sum(1, keepdim=True)
        negative = self.bank.similarity(queries)
        logits = torch.cat([positive, negative], 1) / self.cfg.temperature
        self.bank.push(keys)
        return F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))

    def step(self, first, second):
        loss = self.contrast(first, second)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.teacher.follow(self.encoder)
        return loss.item()


def main():
    torch.manual_seed(22)
    cfg = Config()
    tiles = Tiles()
    method = MomentumContrast(cfg)
    recent = []
    for step in range(cfg.steps):
        recent.append(method.step(*tiles.pairs(cfg.batch)))
        if step % 8 == 0:
            print(f"step {step:2d} loss {recent[-1]:.4f}")
    print("mean of last ten", round(sum(recent[-10:]) / 10, 4))


if __name__ == "__main__":
    main()
