"""Normalising flow for pairs of station measurements.

Actnorm layers (initialised from the first batch) and affine couplings, trained
by maximum likelihood. One optimizer step uses the gradients of ACCUMULATE
micro-batches.
"""
import math

import torch
import torch.nn as nn

torch.manual_seed(27)

ACCUMULATE = 4


class ActNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(dim))
        self.shift = nn.Parameter(torch.zeros(dim))
        self.initialised = False

    def forward(self, x):
        if not self.initialised:
            self.shift.data.copy_(-x.mean(dim=0))
            self.log_scale.data.copy_(-x.std(dim=0).log())
            self.initialised = True
        return (x + self.shift) * self.log_scale.exp(), self.log_scale.sum().expand(len(x))


class AffineCoupling(nn.Module):
    def __init__(self, dim, keep, width=32):
        super().__init__()
        self.keep = keep
        self.move = 1 - keep
        self.net = nn.Sequential(nn.Linear(dim // 2, width), nn.ReLU(), nn.Linear(width, dim))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        log_s, t = self.net(x[:, self.keep::2]).chunk(2, dim=-1)
        log_s = torch.tanh(log_s)
        z = x.clone()
        z[:, self.move::2] = x[:, self.move::2] * log_s.exp() + t
        return z, log_s.sum(-1)


class Flow(nn.Module):
    def __init__(self, dim, blocks=4):
        super().__init__()
        layers = []
        for b in range(blocks):
            layers += [ActNorm(dim), AffineCoupling(dim, b % 2)]
        self.layers = nn.ModuleList(layers)

    def log_prob(self, x):
        log_det = torch.zeros(len(x))
        for layer in self.layers:
            x, contribution = layer(x)
            log_det += contribution
        return log_det - 0.5 * (x.pow(2) + math.log(2 * math.pi)).sum(-1)


def stations(n):
    a = torch.randn(n, 1)
    b = 0.5 * a.pow(2) + 0.3 * torch.randn(n, 1)
    return torch.cat([a, b], dim=-1) * torch.tensor([2.0, 1.0]) + 3.0


data = stations(1024)
flow = Flow(2)
optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

for epoch in range(10):
    running = torch.zeros(())
    optimizer.zero_grad()
    for k, idx in enumerate(torch.randperm(len(data)).split(64), start=1):
        nll = -flow.log_prob(data[idx]).mean()
        (nll / ACCUMULATE).backward()
        running += nll.detach()
        if k % ACCUMULATE == 0:
            nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
            optimizer.step()
            optimizer.zero_grad()
    scheduler.step()
    print(f"epoch {epoch}: nll {running.item() / k:.4f}")
