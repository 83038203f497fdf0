"""Gamma regression of rainfall amounts on pressure fields."""
from dataclasses import dataclass, field

import torch
import torch.nn as nn

torch.manual_seed(33)


@dataclass
class Meter:
    name: str
    total: torch.Tensor = field(default_factory=lambda: torch.zeros(()))
    count: int = 0

    def add(self, value, n):
        self.total = self.total + value * n
        self.count += n

    def report(self):
        return f"{self.name} {self.total.item() / self.count:.4f}"


pressure = torch.randn(240, 10)
rain = torch.distributions.Gamma(2.0, 2.0 / torch.exp(0.4 * pressure[:, 0] - 0.2 * pressure[:, 5])).sample()

net = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)

for epoch in range(6):
    meter = Meter("deviance")
    for rows in torch.randperm(240).split(24):
        log_mean = net(pressure[rows]).squeeze(1)
        deviance = (rain[rows] * torch.exp(-log_mean) + log_mean).mean()
        opt.zero_grad()
        deviance.backward()
        opt.step()
        meter.add(deviance.item(), len(rows))
    print(epoch, meter.report())
