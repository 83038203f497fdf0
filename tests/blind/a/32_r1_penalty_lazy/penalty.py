"""Gradient penalties."""
import torch


def r1(scores, inputs):
    """Mean squared gradient of the scores with respect to the real inputs."""
    (grad,) = torch.autograd.grad(scores.sum(), inputs)
    return grad.flatten(1).pow(2).sum(1).mean()
