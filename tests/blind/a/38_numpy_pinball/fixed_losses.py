"""Losses that torch does not have."""
import torch


def pinball(pred, target, quantiles):
    """Mean pinball loss over samples and quantiles."""
    total = 0.0
    for k, q in enumerate(quantiles):
        err = target - pred[:, k]
        total += torch.maximum(q * err, (q - 1) * err).mean()
    return total / len(quantiles)
