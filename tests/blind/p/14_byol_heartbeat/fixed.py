"""Self-supervised features of heartbeats with BYOL.

The online network predicts the target network's projection of another view;
the target network is an exponential moving average of the online one.
"""
import copy
import math

import torch
from torch import nn
import torch.nn.functional as F


def mlp(in_dim, hidden, out_dim):
    return nn.Sequential(nn.Linear(in_dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, out_dim))


class BYOL(nn.Module):
    def __init__(self, tau=0.97):
        super().__init__()
        self.online = nn.Sequential(nn.Conv1d(1, 8, 7, stride=2), nn.ReLU(), nn.Flatten(), mlp(8 * 29, 64, 16))
        self.predictor = mlp(16, 32, 16)
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad = False
        self.tau = tau

    @torch.no_grad()
    def update_target(self):
        for po, pt in zip(self.online.parameters(), self.target.parameters()):
            pt.mul_(self.tau).add_(po, alpha=1 - self.tau)

    def regression(self, view_a, view_b):
        p = F.normalize(self.predictor(self.online(view_a)), dim=1)
        with torch.no_grad():
            z = F.normalize(self.target(view_b), dim=1)
        return 2 - 2 * (p * z).sum(1).mean()

    def training_step(self, batch):
        view_a, view_b = augment(batch), augment(batch)
        loss = self.regression(view_a, view_b) + self.regression(view_b, view_a)
        self.update_target()
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam([*self.online.parameters(), *self.predictor.parameters()], lr=2e-3)


def augment(x):
    scale = 0.8 + 0.4 * torch.rand(len(x), 1, 1)
    return scale * x + 0.1 * torch.randn_like(x)


def heartbeats(n, length=64):
    t = torch.linspace(0, 1, length)
    center = 0.3 + 0.4 * torch.rand(n, 1)
    width = 0.02 + 0.05 * torch.rand(n, 1)
    spike = torch.exp(-((t - center) / width) ** 2)
    wave = 0.3 * torch.sin(2 * math.pi * (t + torch.rand(n, 1)))
    return (spike + wave).unsqueeze(1)


def fit(model, max_steps):
    optimizer = model.configure_optimizers()
    model.train()
    for step in range(max_steps):
        loss = model.training_step(heartbeats(64))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 0 or step == max_steps - 1:
            print(f"step {step:3d}  loss {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(2718)
    fit(BYOL(), max_steps=50)
