"""Robust regression on a stream with broken sensors: batches whose loss is far above its running average are skipped."""
import torch
import torch.nn as nn


class SpikeGuard:
    """Knows how large a loss usually is."""

    def __init__(self, decay=0.9, factor=4.0, warmup=10):
        self.decay, self.factor, self.warmup = decay, factor, warmup
        self.average = None
        self.count = 0

    def is_spike(self, loss):
        return self.count >= self.warmup and loss > self.factor * self.average

    def record(self, loss):
        self.count += 1
        if self.average is None:
            self.average = loss
        else:
            self.average = self.decay * self.average + (1 - self.decay) * loss


def sensor_stream(batches, generator):
    weights = torch.randn(8, 1, generator=generator)
    for number in range(batches):
        x = torch.randn(32, 8, generator=generator)
        y = torch.tanh(x @ weights) + 0.05 * torch.randn(32, 1, generator=generator)
        if number % 17 == 16:
            y = y + 8 * torch.randn(32, 1, generator=generator)
        yield x, y


class Run:
    def __init__(self, net, guard):
        self.net, self.guard = net, guard
        self.optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
        self.skipped = 0

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.net(x), y)
        if self.guard.is_spike(loss):
            self.skipped += 1
            return
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.guard.record(loss.item())


torch.manual_seed(59)
run = Run(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1)), SpikeGuard())
for number, batch in enumerate(sensor_stream(150, torch.Generator().manual_seed(6)), start=1):
    run.step(*batch)
    if number % 30 == 0:
        print(f"{number} batches: usual loss {float(run.guard.average):.4f}, skipped {run.skipped}")
