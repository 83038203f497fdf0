import math

import torch


def r1_penalty(critic, real):
    real = real.detach().requires_grad_(True)
    grad, = torch.autograd.grad(critic(real).sum(), real, create_graph=True)
    return grad.flatten(1).pow(2).sum(1).mean()


class PathLength:
    """Pulls the length of the Jacobian-vector product towards its own running mean."""

    def __init__(self, decay=0.9):
        self.decay = decay
        self.mean = torch.zeros(())

    def __call__(self, w, img, gen):
        noise = torch.randn(img.shape, generator=gen) / math.sqrt(img.shape[2] * img.shape[3])
        grad, = torch.autograd.grad((img * noise).sum(), w, create_graph=True)
        lengths = grad.pow(2).sum(1).sqrt()
        penalty = (lengths - self.mean).pow(2).mean()
        self.mean = self.mean.lerp(lengths.mean().detach(), 1 - self.decay)
        return penalty
