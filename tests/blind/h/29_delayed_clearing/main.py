"""Large effective batch on a small machine: gradients of 4 micro-batches, clipped, then one step; callbacks do the logging."""
from typing import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F


class Callbacks(dict):
    def on(self, name: str):
        def register(function: Callable):
            self.setdefault(name, []).append(function)
            return function
        return register

    def fire(self, name: str, **info):
        for function in self.get(name, []):
            function(**info)


def loop(model, optimizer, scheduler, data, callbacks, accumulate=4, clip=1.0):
    for number, (x, y) in enumerate(data, 1):
        loss = F.cross_entropy(model(x), y)
        (loss / accumulate).backward()
        callbacks.fire("micro", loss=loss)
        if number % accumulate:
            continue
        norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad(set_to_none=True)
        callbacks.fire("update", norm=norm, lr=scheduler.get_last_lr()[0])


def micro_batches(count, size=8):
    planes = torch.randn(10, 3)
    for _ in range(count):
        x = torch.randn(size, 10)
        yield x, (x @ planes).argmax(1)


torch.manual_seed(14)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 0.2, 1.0, total_iters=20)
callbacks = Callbacks()
window, updates = [], 0


@callbacks.on("micro")
def remember(loss):
    window.append(loss.item())


@callbacks.on("update")
def report(norm, lr):
    global updates
    updates += 1
    if updates % 20 == 0:
        print(f"update {updates}: loss {sum(window) / len(window):.4f}  norm {norm:.3f}  lr {lr:.4f}")
        window.clear()


loop(model, optimizer, scheduler, micro_batches(400), callbacks)
