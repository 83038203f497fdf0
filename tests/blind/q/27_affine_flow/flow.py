"""Invertible layers for a small normalizing flow."""
import torch
import torch.nn as nn


class ElementwiseAffine(nn.Module):
    """Learned scale and shift of every dimension."""

    def __init__(self, dim):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(dim)).unsqueeze(0)
        self.shift = nn.Parameter(torch.zeros(1, dim))

    def forward(self, x):
        y = x * self.log_scale.exp() + self.shift
        return y, self.log_scale.sum(1).expand(len(x))


class AdditiveCoupling(nn.Module):
    """Shifts one half of the input by a function of the other half."""

    def __init__(self, dim, flip, hidden=32):
        super().__init__()
        self.flip = flip
        self.half = dim // 2
        self.net = nn.Sequential(nn.Linear(self.half, hidden), nn.Tanh(),
                                 nn.Linear(hidden, dim - self.half))

    def forward(self, x):
        a, b = x[:, :self.half], x[:, self.half:]
        if self.flip:
            y = torch.cat([a + self.net(b), b], dim=1)
        else:
            y = torch.cat([a, b + self.net(a)], dim=1)
        return y, x.new_zeros(len(x))


class Flow(nn.Module):
    def __init__(self, dim, n_blocks):
        super().__init__()
        layers = []
        for i in range(n_blocks):
            layers += [AdditiveCoupling(dim, flip=i % 2 == 1), ElementwiseAffine(dim)]
        self.layers = nn.ModuleList(layers)
        self.base = torch.distributions.Normal(0.0, 1.0)

    def log_prob(self, x):
        log_det = 0.0
        for layer in self.layers:
            x, ld = layer(x)
            log_det = log_det + ld
        return self.base.log_prob(x).sum(1) + log_det
