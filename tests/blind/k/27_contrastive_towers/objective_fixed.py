import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class ContrastiveLoss(nn.Module):
    """Symmetric InfoNCE with a learned temperature (as in CLIP).

    The logit scale is a parameter, trained jointly with the towers; it starts at
    1/0.07 and is never allowed above 100.
    """

    def __init__(self, start=0.07, ceiling=100.0):
        super().__init__()
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / start)))
        self.ceiling = ceiling

    def scale(self):
        return self.logit_scale.exp().clamp(max=self.ceiling)

    def forward(self, a, b):
        scale = self.scale()
        logits = scale * a @ b.t()
        target = torch.arange(len(a))
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2
        return loss, {"scale": scale.item(), "top1": self.top1(logits, target)}

    @staticmethod
    def top1(logits, target):
        return (logits.argmax(dim=1) == target).float().mean().item()
