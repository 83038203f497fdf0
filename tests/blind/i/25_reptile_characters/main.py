"""Reptile: train on a task for a few steps, then move the initial weights a little towards the result."""
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Wave:
    def __init__(self):
        self.amplitude = 0.5 + 1.5 * torch.rand(1).item()
        self.phase = math.pi * torch.rand(1).item()

    def draw(self, n):
        x = 6 * torch.rand(n, 1) - 3
        return x, self.amplitude * torch.sin(x + self.phase)


def inner_train(net, task, steps, lr):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    x, y = task.draw(20)
    for _ in range(steps):
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss


class Reptile:
    def __init__(self, net, inner_steps=6, inner_lr=0.05, outer_lr=0.3):
        self.net = net
        self.inner_steps, self.inner_lr, self.outer_lr = inner_steps, inner_lr, outer_lr

    def meta_step(self, tasks):
        start = copy.deepcopy(self.net.state_dict())
        moved = {name: torch.zeros_like(value) for name, value in start.items()}
        losses = []
        for task in tasks:
            self.net.load_state_dict(start)
            losses.append(inner_train(self.net, task, self.inner_steps, self.inner_lr))
            for name, value in self.net.state_dict().items():
                moved[name] += (value - start[name]) / len(tasks)
        self.net.load_state_dict({name: start[name] + self.outer_lr * moved[name] for name in start})
        return torch.stack(losses).mean().item()


def test_error(net, tasks=10):
    total = 0.0
    for _ in range(tasks):
        task, learner = Wave(), copy.deepcopy(net)
        inner_train(learner, task, steps=6, lr=0.05)
        x, y = task.draw(50)
        with torch.no_grad():
            total += F.mse_loss(learner(x), y).item() / tasks
    return total


torch.manual_seed(41)
meta = Reptile(nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1)))
for it in range(31):
    loss = meta.meta_step([Wave() for _ in range(4)])
    if it % 10 == 0:
        print(f"meta step {it}: inner loss {loss:.4f}  error on new tasks {test_error(meta.net):.4f}")
