"""Density of correlated sensor readings with a small affine-coupling flow."""
import argparse
import math

import torch
from torch import nn


class Coupling(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.half = dim // 2
        self.net = nn.Sequential(
            nn.Linear(self.half, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 2 * (dim - self.half)),
        )
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        z = x.clone()
        scale, shift = self.net(z[:, :self.half]).chunk(2, dim=1)
        scale = torch.tanh(scale)
        z[:, self.half:] *= torch.exp(scale)
        z[:, self.half:] += shift
        return z, scale.sum(dim=1)

    def inverse(self, z):
        scale, shift = self.net(z[:, :self.half]).chunk(2, dim=1)
        scale = torch.tanh(scale)
        upper = (z[:, self.half:] - shift) * torch.exp(-scale)
        return torch.cat([z[:, :self.half], upper], dim=1)


class ActNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(dim))
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return (x + self.bias) * self.log_scale.exp(), self.log_scale.sum().expand(len(x))

    def inverse(self, z):
        return z * (-self.log_scale).exp() - self.bias


class Flip(nn.Module):
    def forward(self, x):
        return x.flip(1), x.new_zeros(len(x))

    def inverse(self, z):
        return z.flip(1)


class Flow(nn.Module):
    def __init__(self, dim, hidden, blocks):
        super().__init__()
        layers = []
        for _ in range(blocks):
            layers += [ActNorm(dim), Coupling(dim, hidden), Flip()]
        self.layers = nn.ModuleList(layers)

    def log_prob(self, x):
        log_det = x.new_zeros(len(x))
        for layer in self.layers:
            x, ld = layer(x)
            log_det = log_det + ld
        base = -0.5 * (x ** 2 + math.log(2 * math.pi)).sum(dim=1)
        return base + log_det

    @torch.no_grad()
    def sample(self, n, dim):
        z = torch.randn(n, dim)
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


def readings(n, seed):
    gen = torch.Generator().manual_seed(seed)
    a = torch.randn(n, 2, generator=gen)
    b = torch.stack([a[:, 0] ** 2 - 1, torch.sin(2 * a[:, 1])], dim=1)
    return torch.cat([a, b + 0.2 * torch.randn(n, 2, generator=gen)], dim=1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--blocks", type=int, default=4)
    ap.add_argument("--lr", type=float, default=4e-3)
    args = ap.parse_args()
    torch.manual_seed(31)
    data = readings(640, seed=9)
    flow = Flow(dim=4, hidden=32, blocks=args.blocks)
    optimizer = torch.optim.Adam(flow.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        total = 0.0
        for idx in torch.randperm(len(data)).split(64):
            nll = -flow.log_prob(data[idx]).mean()
            optimizer.zero_grad()
            nll.backward()
            optimizer.step()
            total += nll.item() * len(idx)
        print(f"epoch {epoch}: nll {total / len(data):.4f}")
    print("sample mean", [round(v, 2) for v in flow.sample(256, 4).mean(dim=0).tolist()])


if __name__ == "__main__":
    main()
