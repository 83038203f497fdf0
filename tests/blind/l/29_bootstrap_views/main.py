"""BYOL on point clouds: online and target network, symmetric loss, EMA target."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class PointNet(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.point = nn.Sequential(nn.Linear(3, 24), nn.ReLU(inplace=True), nn.Linear(24, dim))
        self.project = nn.Linear(dim, dim)

    def forward(self, cloud):
        return self.project(self.point(cloud).amax(dim=1))


class BYOL:
    def __init__(self, tau=0.95, lr=3e-3):
        self.online = PointNet()
        self.predictor = nn.Sequential(nn.Linear(12, 16), nn.ReLU(inplace=True), nn.Linear(16, 12))
        self.target = copy.deepcopy(self.online)
        self.target.requires_grad_(False)
        self.tau = tau
        self.opt = torch.optim.Adam(
            [*self.online.parameters(), *self.predictor.parameters()], lr=lr)
        self.best = None

    def regress(self, view, other):
        p = F.normalize(self.predictor(self.online(view)), dim=-1)
        z = F.normalize(self.target(other), dim=-1)
        return 2 - 2 * (p * z).sum(-1).mean()

    def update(self, a, b):
        loss = 0.5 * (self.regress(a, b) + self.regress(b, a))
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        for slow, fast in zip(self.target.parameters(), self.online.parameters()):
            slow.data.mul_(self.tau).add_(fast.data, alpha=1 - self.tau)
        if self.best is None or loss < self.best:
            self.best = loss.detach()
        return loss.item()


def spin(cloud):
    angle = torch.rand(len(cloud)) * 6.283
    c, s, o, one = angle.cos(), angle.sin(), torch.zeros_like(angle), torch.ones_like(angle)
    turn = torch.stack([c, -s, o, s, c, o, o, o, one], -1).view(-1, 3, 3)
    return cloud @ turn + 0.02 * torch.randn_like(cloud)


torch.manual_seed(28)
learner = BYOL()
for step in range(10):
    clouds = torch.randn(10, 32, 3) * torch.rand(10, 1, 3)
    value = learner.update(spin(clouds), spin(clouds))
    if step % 3 == 0:
        print(f"{step}: {value:.4f} best {learner.best.item():.4f}")
