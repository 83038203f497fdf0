"""Momentum contrast on synthetic views: a slow copy of the encoder makes the keys, a queue keeps them as negatives."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, encoder, dim=8, length=96, momentum=0.95, temperature=0.2):
        super().__init__()
        self.query_encoder = encoder
        self.key_encoder = copy.deepcopy(encoder)
        for p in self.key_encoder.parameters():
            p.requires_grad_(False)
        self.momentum, self.temperature = momentum, temperature
        self.register_buffer("queue", F.normalize(torch.randn(length, dim), dim=1))
        self.pointer = 0

    @torch.no_grad()
    def update_key_encoder(self):
        for q, k in zip(self.query_encoder.parameters(), self.key_encoder.parameters()):
            k.mul_(self.momentum).add_(q, alpha=1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        n = len(keys)
        self.queue[self.pointer:self.pointer + n] = keys
        self.pointer = (self.pointer + n) % len(self.queue)

    def forward(self, view_q, view_k):
        q = F.normalize(self.query_encoder(view_q), dim=1)
        self.update_key_encoder()
        k = F.normalize(self.key_encoder(view_k), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().T
        logits = torch.cat([positive, negative], 1) / self.temperature
        loss = F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long))
        self.enqueue(k)
        return loss


def views(content, mix):
    return tuple(content @ mix + 0.3 * torch.randn(len(content), mix.shape[1]) for _ in range(2))


torch.manual_seed(61)
mix = torch.randn(4, 14)
encoder = nn.Sequential(nn.Linear(14, 32), nn.ReLU(), nn.Linear(32, 8))
model = MoCo(encoder)
optimizer = torch.optim.SGD(model.query_encoder.parameters(), lr=0.1, momentum=0.9)
log = []
for step in range(120):
    loss = model(*views(torch.randn(32, 4), mix))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log.append(loss.detach())
    if step % 30 == 29:
        print(f"step {step}: loss {torch.stack(log).mean():.4f}")
        log.clear()
