"""ANIL: almost no inner loop (Raghu et al., 2020), first-order version.

Only the last layer is adapted to a task.  Body and initial last layer are
meta-learned; the inner gradients are constants for the meta-loss.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Body(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())

    def forward(self, x):
        return self.net(x)


class ANIL(nn.Module):
    def __init__(self, width=24, inner_lr=0.05, inner_steps=3):
        super().__init__()
        self.body = Body(width)
        self.weight = nn.Parameter(torch.randn(1, width) * 0.1)
        self.bias = nn.Parameter(torch.zeros(1))
        self.inner_lr = inner_lr
        self.inner_steps = inner_steps

    def adapt(self, features, y):
        fast = [self.weight, self.bias]
        for _ in range(self.inner_steps):
            loss = F.mse_loss(F.linear(features, *fast), y)
            grads = torch.autograd.grad(loss, fast)
            fast = [w - self.inner_lr * g for w, g in zip(fast, grads)]
        return fast

    def episode_loss(self, episode):
        features = self.body(episode.x)
        k = episode.shots
        fast = self.adapt(features[:k], episode.y[:k])
        return F.mse_loss(F.linear(features[k:], *fast), episode.y[k:])
