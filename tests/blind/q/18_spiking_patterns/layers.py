"""Leaky integrate-and-fire layers with a surrogate gradient."""
import torch
import torch.nn as nn


class SpikeFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad_output):
        (v,) = ctx.saved_tensors
        return grad_output / (1.0 + 5.0 * v.abs()) ** 2


class LIF(nn.Module):
    def __init__(self, n_in, n_out, beta=0.9, threshold=1.0):
        super().__init__()
        self.fc = nn.Linear(n_in, n_out)
        self.beta = beta
        self.threshold = threshold
        self.reset()

    def reset(self):
        self.mem = None

    def forward(self, x):
        current = self.fc(x)
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = self.beta * self.mem + current
        spikes = SpikeFn.apply(self.mem - self.threshold)
        self.mem = self.mem - spikes * self.threshold
        return spikes


class SpikingNet(nn.Module):
    def __init__(self, n_in, n_hidden, n_classes):
        super().__init__()
        self.hidden = LIF(n_in, n_hidden)
        self.out = LIF(n_hidden, n_classes)

    def reset(self):
        self.hidden.reset()
        self.out.reset()

    def forward(self, spikes):
        counts = 0.0
        for x_t in spikes:
            counts = counts + self.out(self.hidden(x_t))
        return counts
