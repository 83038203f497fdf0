import torch
import torch.nn as nn


class LIF(nn.Module):
    """Leaky integrate-and-fire layer. The membrane potential lives between calls until reset()."""

    def __init__(self, beta, threshold=1.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold
        self.mem = None

    def reset(self):
        self.mem = None

    def forward(self, current):
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = self.beta * self.mem + current
        over = self.mem - self.threshold
        surrogate = torch.sigmoid(5 * over)
        spike = (over > 0).float() + surrogate - surrogate.detach()
        self.mem = self.mem - spike.detach() * self.threshold
        return spike
