"""Leaky integrate-and-fire neurons with a surrogate gradient."""
import torch
import torch.nn as nn


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, membrane):
        ctx.save_for_backward(membrane)
        return (membrane > 0).float()

    @staticmethod
    def backward(ctx, grad_output):
        (membrane,) = ctx.saved_tensors
        return grad_output / (1 + 10 * membrane.abs()) ** 2


class LIF(nn.Module):
    """Keeps its membrane potential from one time step to the next."""

    def __init__(self, beta=0.9, threshold=1.0):
        super().__init__()
        self.beta = beta
        self.threshold = threshold
        self.reset()

    def reset(self):
        self.membrane = None

    def forward(self, current):
        if self.membrane is None:
            self.membrane = torch.zeros_like(current)
        self.membrane = self.beta * self.membrane + current
        spikes = Spike.apply(self.membrane - self.threshold)
        self.membrane = self.membrane - spikes.detach() * self.threshold
        return spikes


def reset_states(net):
    for module in net.modules():
        if isinstance(module, LIF):
            module.reset()
