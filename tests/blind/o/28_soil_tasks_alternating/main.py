"""Soil spectra: nitrogen, moisture and pH from one trunk, tasks taking turns.

Every task has an optimizer of its own, over the trunk and the task's head, because the
targets differ a lot in scale and Adam's moments must not be mixed. Within a batch
the tasks step one after the other (Gauss-Seidel style): moisture is computed and trained on
the trunk as nitrogen has left it, pH on the trunk as moisture has left it.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(28)
BANDS = 20


@dataclass
class Task:
    name: str
    head: nn.Module
    loss_fn: object
    optimizer: object = None


class SpectralTrunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(BANDS, 32)
        self.fc2 = nn.Linear(32, 16)

    def forward(self, s):
        return F.gelu(self.fc2(F.gelu(self.fc1(s))))


class SoilData:
    def __init__(self):
        self.mix = torch.randn(BANDS, 3) / BANDS ** 0.5

    def batch(self, n=32):
        s = torch.randn(n, BANDS)
        y = s @ self.mix
        return s, {"nitrogen": 5 * y[:, :1], "moisture": (y[:, 1:2] > 0).float(), "ph": 7 + y[:, 2:]}


trunk = SpectralTrunk()
tasks = [
    Task("nitrogen", nn.Linear(16, 1), F.mse_loss),
    Task("moisture", nn.Linear(16, 1), F.binary_cross_entropy_with_logits),
    Task("ph", nn.Linear(16, 1), F.smooth_l1_loss),
]
for task, lr in zip(tasks, (1e-3, 3e-3, 1e-3)):
    task.optimizer = torch.optim.Adam([*trunk.parameters(), *task.head.parameters()], lr=lr)

data = SoilData()
for step in range(12):
    spectra, targets = data.batch()
    log = {}
    features = trunk(spectra)
    for task in tasks:
        loss = task.loss_fn(task.head(features), targets[task.name])
        task.optimizer.zero_grad()
        loss.backward(retain_graph=True)
        task.optimizer.step()
        log[task.name] = round(loss.item(), 4)
    if step % 3 == 0:
        print(step, log)
