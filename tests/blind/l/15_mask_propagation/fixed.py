"""Video object segmentation with the previous frame's mask as an input.

A tracker is asked frame by frame and learns online, one update per frame; the
mask it is given is the one it has just predicted.
"""
from __future__ import annotations

from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F


class MaskNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv2d(2, width, 3, padding=1)
        self.out = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, frame, mask):
        h = F.relu(self.stem(torch.cat([frame, mask], dim=1)))
        return self.out(h)


@dataclass
class Track:
    masks: list[torch.Tensor] = field(default_factory=list)
    ious: list[float] = field(default_factory=list)

    def latest(self):
        return self.masks[-1]

    def push(self, mask, truth):
        self.masks = self.masks[-2:] + [mask]
        hard = mask > 0.5
        both = (hard & (truth > 0.5)).sum().item()
        either = (hard | (truth > 0.5)).sum().item()
        self.ious.append(both / max(either, 1))


class Tracker:
    def __init__(self, net, lr=0.05):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=lr)

    def begin(self, first_mask):
        self.track = Track(masks=[first_mask])

    def update(self, frame, truth):
        logits = self.net(frame, self.track.latest())
        loss = F.binary_cross_entropy_with_logits(logits, truth)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.track.push(torch.sigmoid(logits.detach()), truth)
        return loss.item()


def moving_square(length=7, size=14):
    for k in range(length):
        truth = torch.zeros(1, 1, size, size)
        truth[..., 3:8, k:k + 5] = 1.0
        frame = truth * 0.7 + 0.3 * torch.rand(1, 1, size, size)
        yield frame, truth


def main():
    torch.manual_seed(6)
    tracker = Tracker(MaskNet())
    for video in range(3):
        clip = list(moving_square())
        tracker.begin(clip[0][1])
        losses = [tracker.update(f, m) for f, m in clip[1:]]
        print(f"video {video}: loss {losses[-1]:.4f} IoU {tracker.track.ious[-1]:.2f}")


main()
