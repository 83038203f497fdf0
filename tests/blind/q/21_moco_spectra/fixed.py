"""Contrastive pre-training on synthetic spectra with a MoCo queue of negatives.

Two noisy views of a spectrum are a positive pair; the keys of earlier batches, held
in the queue, are the negatives.
"""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

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


class MoCo(nn.Module):
    def __init__(self, encoder, dim=16, queue_size=256, momentum=0.9, temperature=0.2):
        super().__init__()
        self.encoder_q = encoder
        self.encoder_k = copy.deepcopy(encoder)
        for p in self.encoder_k.parameters():
            p.requires_grad = False
        self.m = momentum
        self.T = temperature
        self.K = queue_size
        self.register_buffer("queue", F.normalize(torch.randn(dim, queue_size), dim=0))
        self.ptr = 0

    @torch.no_grad()
    def _update_key_encoder(self):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.mul_(self.m).add_(q, alpha=1 - self.m)

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        n = keys.shape[0]
        self.queue[:, self.ptr:self.ptr + n] = keys.t()
        self.ptr = (self.ptr + n) % self.K

    def forward(self, x_q, x_k):
        q = F.normalize(self.encoder_q(x_q), dim=1)
        with torch.no_grad():
            self._update_key_encoder()
            k = F.normalize(self.encoder_k(x_k), dim=1)

        l_pos = (q * k).sum(1, keepdim=True)
        l_neg = q @ self.queue.clone()
        logits = torch.cat([l_pos, l_neg], dim=1) / self.T
        labels = torch.zeros(len(q), dtype=torch.long)

        self._dequeue_and_enqueue(k)
        return logits, labels


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
