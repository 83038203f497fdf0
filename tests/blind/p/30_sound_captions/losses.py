"""Symmetric contrastive loss over the pairs of a batch."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class PairLoss(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, a, b):
        logits = self.scale * a @ b.T
        target = torch.arange(len(a))
        return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target))
