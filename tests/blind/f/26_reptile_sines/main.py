"""Reptile on sine waves: the slow weights move toward what a task's inner loop found."""
import copy

import torch
import torch.nn as nn


def sine_task(generator):
    amplitude = 0.5 + 2 * torch.rand((), generator=generator)
    phase = 3.14 * torch.rand((), generator=generator)

    def draw(count):
        x = 10 * torch.rand(count, 1, generator=generator) - 5
        return x, amplitude * torch.sin(x + phase)

    return draw


def adapt(net, task, steps, lr):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        x, y = task(20)
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def interpolate(slow, fast, rate):
    for a, b in zip(slow.parameters(), fast.parameters()):
        a.data.add_(b.data - a.data, alpha=rate)


def evaluate(net, generator, tasks=5):
    after = []
    for _ in range(tasks):
        losses = adapt(copy.deepcopy(net), sine_task(generator), steps=8, lr=0.02)
        after.append(losses[-1])
    return torch.stack(after).mean().item()


torch.manual_seed(52)
generator = torch.Generator().manual_seed(8)
slow = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
rounds = 60
for number in range(rounds):
    fast = copy.deepcopy(slow)
    trace = adapt(fast, sine_task(generator), steps=10, lr=0.02)
    interpolate(slow, fast, rate=0.5 * (1 - number / rounds))
    if number % 15 == 14:
        found = evaluate(slow, torch.Generator().manual_seed(1))
        print(f"round {number + 1}: this task {trace[0]:.3f} -> {trace[-1]:.3f}, new tasks after adaptation {found:.3f}")
