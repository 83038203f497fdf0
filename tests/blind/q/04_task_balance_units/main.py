"""Predict three building meters (kWh, litres, degrees) with one shared trunk.

The units differ by orders of magnitude, so each task's loss is divided by an
exponential moving average of that task's own loss. The averages are plain scale
factors that follow the magnitude of the losses; only the losses themselves are
to be differentiated.
"""
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(77)

TASKS = {"kwh": 120.0, "litres": 900.0, "degrees": 4.0}


@dataclass
class LossBalancer:
    momentum: float = 0.9
    scale: dict = field(default_factory=dict)

    def update(self, name, loss):
        if name not in self.scale:
            self.scale[name] = loss
        else:
            self.scale[name] = self.momentum * self.scale[name] + (1 - self.momentum) * loss
        return self.scale[name]

    def combine(self, losses):
        total = 0.0
        for name, loss in losses.items():
            total = total + loss / (self.update(name, loss) + 1e-8)
        return total


class MeterNet(nn.Module):
    def __init__(self, in_features=10, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(in_features, width), nn.ReLU(),
                                   nn.Linear(width, width), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(width, 1) for name in TASKS})

    def forward(self, x):
        z = self.trunk(x)
        return {name: TASKS[name] * head(z).squeeze(-1) for name, head in self.heads.items()}


def make_data(n=256):
    x = torch.randn(n, 10)
    y = {}
    for name, unit in TASKS.items():
        w = torch.randn(10)
        y[name] = unit * (torch.tanh(x @ w) + 0.05 * torch.randn(n))
    return x, y


x, y = make_data()
model = MeterNet()
balancer = LossBalancer()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for step in range(40):
    idx = torch.randint(0, len(x), (64,))
    preds = model(x[idx])
    losses = {name: F.mse_loss(preds[name], y[name][idx]) for name in TASKS}

    total = balancer.combine(losses)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()

    if step % 5 == 0:
        report = "  ".join(f"{k} {v.item():10.2f}" for k, v in losses.items())
        print(f"step {step:2d}  total {total.item():.3f}  {report}")
