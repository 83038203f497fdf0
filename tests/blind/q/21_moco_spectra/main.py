"""Contrastive pre-training on synthetic spectra with a MoCo queue of negatives.

Two noisy views of a spectrum are a positive pair; the keys of earlier batches, held
in the queue, are the negatives.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from moco import MoCo

torch.manual_seed(23)

BINS, BATCH = 64, 32
grid = torch.linspace(0, 1, BINS)


def spectra(n):
    centers = torch.rand(n, 3, 1)
    heights = 0.5 + torch.rand(n, 3, 1)
    return (heights * torch.exp(-((grid - centers) / 0.04) ** 2)).sum(1)


def augment(x):
    gain = 0.8 + 0.4 * torch.rand(len(x), 1)
    return gain * x + 0.05 * torch.randn_like(x)


encoder = nn.Sequential(nn.Linear(BINS, 64), nn.ReLU(inplace=True), nn.Linear(64, 16))
model = MoCo(encoder)
optimizer = torch.optim.SGD(model.encoder_q.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=80)

for step in range(80):
    x = spectra(BATCH)
    logits, labels = model(augment(x), augment(x))
    loss = F.cross_entropy(logits, labels)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()

    if step % 10 == 0:
        acc = (logits.argmax(1) == labels).float().mean().item()
        print(f"step {step:2d}  loss {loss.item():.3f}  acc {acc:.2f}")
