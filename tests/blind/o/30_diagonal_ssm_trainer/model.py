"""A stack of diagonal state space layers that remember their state between calls."""
import torch
import torch.nn as nn


class DiagonalSSM(nn.Module):
    def __init__(self, dim, n_state=8):
        super().__init__()
        self.log_rate = nn.Parameter(torch.linspace(-3, 0, n_state).repeat(dim, 1))
        self.B = nn.Parameter(torch.randn(dim, n_state) * 0.3)
        self.C = nn.Parameter(torch.randn(dim, n_state) * 0.3)
        self.skip = nn.Parameter(torch.ones(dim))
        self.state = None

    def forward(self, x):
        decay = torch.exp(-torch.exp(self.log_rate))
        h = self.state
        if h is None:
            h = x.new_zeros(x.shape[0], *self.B.shape)
        ys = []
        for t in range(x.shape[1]):
            h = decay * h + self.B * x[:, t, :, None]
            ys.append((h * self.C).sum(-1) + self.skip * x[:, t])
        self.state = h
        return torch.stack(ys, dim=1)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.ssm = DiagonalSSM(dim)
        self.mix = nn.Linear(dim, dim)

    def forward(self, x):
        return x + torch.tanh(self.mix(self.ssm(x)))


class SeismicForecaster(nn.Module):
    def __init__(self, channels=2, dim=6, depth=2):
        super().__init__()
        self.inp = nn.Linear(channels, dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.out = nn.Linear(dim, channels)

    def reset(self):
        for block in self.blocks:
            block.ssm.state = None

    def forward(self, x):
        x = self.inp(x)
        for block in self.blocks:
            x = block(x)
        return self.out(x)
