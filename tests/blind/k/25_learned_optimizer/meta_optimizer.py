"""Coordinate-wise LSTM optimizer (Andrychowicz et al., 2016)."""
import math

import torch
import torch.nn as nn


def preprocess(grad, p=10.0):
    """Log magnitude and sign, as in the paper's appendix."""
    big = grad.abs() >= math.exp(-p)
    magnitude = torch.where(big, torch.log(grad.abs() + 1e-12) / p, torch.full_like(grad, -1.0))
    sign = torch.where(big, torch.sign(grad), math.exp(p) * grad)
    return torch.stack([magnitude, sign], dim=-1)


class LSTMOptimizer(nn.Module):
    def __init__(self, hidden=12, scale=0.1):
        super().__init__()
        self.scale = scale
        self.lstm = nn.LSTMCell(2, hidden)
        self.out = nn.Linear(hidden, 1)

    def initial_state(self, n):
        zeros = torch.zeros(n, self.lstm.hidden_size)
        return zeros, zeros.clone()

    def forward(self, grad, state):
        state = self.lstm(preprocess(grad), state)
        return self.scale * self.out(state[0]).squeeze(-1), state
