"""Heated plate (Poisson) with learning-rate annealing of the loss weights.

Wang, Teng & Perdikaris: every few iterations the weight of each boundary term is moved
toward max|grad residual| / mean|grad boundary|. The weights are statistics, not parameters.
"""
import math

import torch
import torch.nn as nn

torch.manual_seed(29)


class Plate(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, width), nn.Linear(width, width), nn.Linear(width, 1)])

    def forward(self, xy):
        for layer in self.layers[:-1]:
            xy = torch.tanh(layer(xy))
        return self.layers[-1](xy)


def source(xy):
    return -2 * math.pi ** 2 * torch.sin(math.pi * xy[:, :1]) * torch.sin(math.pi * xy[:, 1:])


class AnnealedPINN:
    def __init__(self, every=5, alpha=0.9):
        self.net = Plate()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.weights = {"left": torch.tensor(1.0), "top": torch.tensor(1.0)}
        self.every, self.alpha = every, alpha
        self.history = []

    def losses(self):
        xy = torch.rand(48, 2, requires_grad=True)
        u = self.net(xy)
        g, = torch.autograd.grad(u, xy, torch.ones_like(u), create_graph=True)
        lap = 0
        for d in range(2):
            lap = lap + torch.autograd.grad(g[:, d].sum(), xy, create_graph=True)[0][:, d:d + 1]
        s = torch.rand(16, 1)
        out = {"residual": (lap - source(xy.detach())).pow(2).mean()}
        out["left"] = self.net(torch.cat([torch.zeros_like(s), s], 1)).pow(2).mean()
        out["top"] = self.net(torch.cat([s, torch.ones_like(s)], 1)).pow(2).mean()
        return out

    def flat_grad(self, loss):
        params = list(self.net.parameters())
        grads = torch.autograd.grad(loss, params, retain_graph=True, allow_unused=True)
        return torch.cat([g.abs().flatten() for g in grads if g is not None])

    def anneal(self, losses):
        top = self.flat_grad(losses["residual"]).max()
        for name, old in self.weights.items():
            new = top / (self.flat_grad(losses[name]).mean() + 1e-8)
            self.weights[name] = self.alpha * old + (1 - self.alpha) * new

    def step(self, it):
        losses = self.losses()
        if it % self.every == 0:
            self.anneal(losses)
        total = losses["residual"]
        for name, w in self.weights.items():
            total = total + w * losses[name]
        self.opt.zero_grad()
        total.backward()
        self.opt.step()
        self.history.append({k: v.detach() for k, v in losses.items()})


pinn = AnnealedPINN()
for it in range(25):
    pinn.step(it)
    if it % 8 == 0:
        last = pinn.history[-1]
        print(it, {k: round(v.item(), 4) for k, v in last.items()},
              {k: round(v.item(), 2) for k, v in pinn.weights.items()})
