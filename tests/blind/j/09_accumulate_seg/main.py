"""Segment tiny scans; four small batches make one update because memory is short.

The last update of an epoch may have fewer batches; its loss is divided accordingly.
"""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)
scans = torch.randn(36, 1, 8, 8)
masks = (F.avg_pool2d(scans, 3, 1, 1) > 0).float()

net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 1, 3, padding=1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)

BATCH, PER_UPDATE = 2, 4
n_batches = len(scans) // BATCH
curve = []

for epoch in range(5):
    order = torch.randperm(len(scans))
    epoch_loss = 0.0
    opt.zero_grad()
    for i in range(n_batches):
        rows = order[i * BATCH:(i + 1) * BATCH]
        loss = F.binary_cross_entropy_with_logits(net(scans[rows]), masks[rows])
        group = min(PER_UPDATE, n_batches - i // PER_UPDATE * PER_UPDATE)
        (loss / group).backward()
        epoch_loss += loss.item()
        if (i + 1) % PER_UPDATE == 0 or i + 1 == n_batches:
            opt.step()
            opt.zero_grad()
    curve.append(epoch_loss / n_batches)
    print("epoch", epoch, "loss", round(curve[-1], 4))
