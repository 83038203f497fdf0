import torch


def langevin(energy, start, steps, size=0.1, noise=0.02):
    """Short-run Langevin dynamics from `start`; the samples are negatives, i.e. constants for whoever trains on them."""
    x = start.detach()
    for _ in range(steps):
        x = x.requires_grad_(True)
        (slope,) = torch.autograd.grad(energy(x).sum(), x)
        x = x - size * slope + noise * torch.randn_like(x)
    return x.detach()
