"""Continual learning on three rotated tasks with averaged gradient episodic memory (A-GEM).

The gradient of the current task is projected so that it does not increase the loss on
a memory of earlier examples.
"""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(59)
random.seed(59)


def rotated_task(angle, n=256):
    x = torch.randn(n, 2)
    c, s = math.cos(angle), math.sin(angle)
    r = x @ torch.tensor([[c, -s], [s, c]])
    return x, ((r[:, 0] * r[:, 1]) > 0).long()


class Memory:
    """Reservoir of examples from the tasks seen so far."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.seen = 0
        self.items = []

    def add(self, x, y):
        for pair in zip(x, y):
            self.seen += 1
            if len(self.items) < self.capacity:
                self.items.append(pair)
            else:
                j = random.randrange(self.seen)
                if j < self.capacity:
                    self.items[j] = pair

    def sample(self, n):
        xs, ys = zip(*random.sample(self.items, min(n, len(self.items))))
        return torch.stack(xs), torch.stack(ys)


def flat_grad(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def write_grad(model, flat):
    offset = 0
    for p in model.parameters():
        p.grad.copy_(flat[offset:offset + p.numel()].view_as(p))
        offset += p.numel()


def train_batch(model, optimizer, memory, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    if memory.items:
        g = flat_grad(model)
        optimizer.zero_grad(set_to_none=False)
        mem_x, mem_y = memory.sample(64)
        F.cross_entropy(model(mem_x), mem_y).backward()
        ref = flat_grad(model)
        dot = g @ ref
        if dot < 0:
            g -= dot / (ref @ ref) * ref
        write_grad(model, g)
    optimizer.step()
    return loss.item()


model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(inplace=True), nn.Linear(64, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
memory = Memory(capacity=96)
tasks = [rotated_task(a) for a in (0.0, 0.25, 0.5)]

for t, (x, y) in enumerate(tasks):
    for epoch in range(20):
        total = 0.0
        for idx in torch.randperm(len(x)).split(32):
            total += train_batch(model, optimizer, memory, x[idx], y[idx])
    memory.add(x, y)
    with torch.no_grad():
        accs = [(model(a).argmax(1) == b).float().mean().item() for a, b in tasks[:t + 1]]
    print(f"task {t}  loss {total / 8:.3f}  acc " + " ".join(f"{a:.2f}" for a in accs))
