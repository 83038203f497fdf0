"""Overlap measures for binary segmentation."""
import torch


def overlap(a, b, smooth=1.0):
    """Dice coefficient per image; `a` and `b` have values between 0 and 1."""
    a, b = a.flatten(1), b.flatten(1)
    return (2 * (a * b).sum(dim=1) + smooth) / (a.sum(dim=1) + b.sum(dim=1) + smooth)


def dice_score(logits, masks, threshold=0.5):
    predicted = (torch.sigmoid(logits) > threshold).float()
    return overlap(predicted, masks).mean()


def pixel_accuracy(logits, masks):
    return ((logits > 0).float() == masks).float().mean()


def dice_loss(logits, masks):
    return 1 - overlap(torch.sigmoid(logits), masks).mean()
