"""Long convolution (state-space kernel) on sequences of a few different lengths."""
import math
from functools import lru_cache

import torch
from torch import nn


class LongConv(nn.Module):
    def __init__(self, channels, modes=4):
        super().__init__()
        self.log_decay = nn.Parameter(torch.linspace(-3, 0, modes).repeat(channels, 1))
        self.omega = nn.Parameter(math.pi * torch.rand(channels, modes))
        self.mix = nn.Parameter(torch.randn(channels, modes) / modes)

    @lru_cache(maxsize=16)
    def kernel(self, length):
        t = torch.arange(length).float()
        wave = torch.exp(-torch.exp(self.log_decay)[..., None] * t) * torch.cos(self.omega[..., None] * t)
        return (self.mix[..., None] * wave).sum(1)

    def forward(self, x):
        n = x.size(-1)
        k = self.kernel(n)
        y = torch.fft.irfft(torch.fft.rfft(x, n=2 * n) * torch.fft.rfft(k, n=2 * n), n=2 * n)
        return y[..., :n]


class Net(nn.Module):
    def __init__(self, channels=6):
        super().__init__()
        self.inp = nn.Conv1d(1, channels, 1)
        self.conv = LongConv(channels)
        self.out = nn.Conv1d(channels, 1, 1)

    def forward(self, x):
        return self.out(torch.nn.functional.gelu(self.conv(self.inp(x)) + self.inp(x)))


def bucketed(gen, lengths=(10, 16, 10, 24, 16, 10), batch=6):
    """Batches of equal length; target is an exponential average of the input."""
    for n in lengths:
        x = torch.randn(batch, 1, n, generator=gen)
        y, acc = torch.zeros_like(x), torch.zeros(batch, 1)
        for t in range(n):
            acc = 0.7 * acc + 0.3 * x[..., t]
            y[..., t] = acc
        yield x, y


def main():
    torch.manual_seed(15)
    gen = torch.Generator().manual_seed(151)
    net = Net()
    decay, rest = [net.conv.log_decay, net.conv.omega], []
    rest = [p for p in net.parameters() if all(p is not q for q in decay)]
    opt = torch.optim.Adam([{"params": decay, "lr": 5e-3}, {"params": rest, "lr": 2e-2}])
    for epoch in range(6):
        total = 0.0
        for x, y in bucketed(gen):
            loss = nn.functional.mse_loss(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print("epoch %d  mse %.5f" % (epoch, total / 6))


if __name__ == "__main__":
    main()
