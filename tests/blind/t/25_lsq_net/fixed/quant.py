"""Learned step size quantization (LSQ) of weights and activations."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def scale_gradient(x, factor):
    return (x - x * factor).detach() + x * factor


def round_ste(x):
    return (x.round() - x).detach() + x


class StepQuantizer(nn.Module):
    """Rounds to 2**bits levels of a step size that is learned; the first batch sets its start."""

    def __init__(self, bits, signed):
        super().__init__()
        self.q_min = -(2 ** (bits - 1)) if signed else 0
        self.q_max = 2 ** (bits - 1) - 1 if signed else 2 ** bits - 1
        self.step = nn.Parameter(torch.ones(1))
        self.started = False

    def forward(self, x):
        if not self.started:
            start = 2 * x.detach().abs().mean() / self.q_max ** 0.5
            self.step.data.copy_(start)
            self.started = True
        step = scale_gradient(self.step, 1.0 / (x.numel() * self.q_max) ** 0.5).abs().clamp(min=1e-5)
        q = (x / step).clamp(self.q_min, self.q_max)
        return round_ste(q) * step


class QuantConv(nn.Conv2d):
    def __init__(self, *args, bits=3, **kwargs):
        super().__init__(*args, **kwargs)
        self.weight_q = StepQuantizer(bits, signed=True)
        self.input_q = StepQuantizer(bits, signed=False)

    def forward(self, x):
        return F.conv2d(self.input_q(x), self.weight_q(self.weight), self.bias, self.stride, self.padding)


class QuantLinear(nn.Linear):
    def __init__(self, *args, bits=3, **kwargs):
        super().__init__(*args, **kwargs)
        self.weight_q = StepQuantizer(bits, signed=True)
        self.input_q = StepQuantizer(bits, signed=False)

    def forward(self, x):
        return F.linear(self.input_q(x), self.weight_q(self.weight), self.bias)
