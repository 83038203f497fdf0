"""Physics-informed net for the heat equation u_t = 0.1 u_xx on [0, 1].

The weights of the boundary and initial terms follow the ratio of gradient
norms (learning-rate annealing): every few steps they move towards
|grad residual|_max / |grad term|_mean, and act as constants in the loss.
"""
import math

import torch
from torch import nn

torch.manual_seed(1822)

KAPPA = 0.1
net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
params = list(net.parameters())
optimizer = torch.optim.Adam(params, lr=3e-3)
weights = torch.ones(2)


def residual_loss():
    tx = torch.rand(128, 2, requires_grad=True)
    u = net(tx)
    du = torch.autograd.grad(u.sum(), tx, create_graph=True)[0]
    u_t, u_x = du[:, :1], du[:, 1:]
    u_xx = torch.autograd.grad(u_x.sum(), tx, create_graph=True)[0][:, 1:]
    return (u_t - KAPPA * u_xx).pow(2).mean()


def boundary_loss():
    t = torch.rand(32, 1)
    left = net(torch.cat([t, torch.zeros_like(t)], 1))
    right = net(torch.cat([t, torch.ones_like(t)], 1))
    return left.pow(2).mean() + right.pow(2).mean()


def initial_loss():
    x = torch.rand(64, 1)
    u0 = net(torch.cat([torch.zeros_like(x), x], 1))
    return (u0 - torch.sin(math.pi * x)).pow(2).mean()


def flat_grad(loss):
    grads = torch.autograd.grad(loss, params, retain_graph=True, allow_unused=True)
    return torch.cat([g.flatten() for g in grads if g is not None])


for step in range(150):
    res, terms = residual_loss(), [boundary_loss(), initial_loss()]

    if step % 10 == 0:
        top = flat_grad(res).abs().max()
        for k, term in enumerate(terms):
            target = top / (flat_grad(term).abs().mean() + 1e-8)
            weights[k] = 0.9 * weights[k] + 0.1 * target.clamp(max=100.0)

    loss = res + weights[0] * terms[0] + weights[1] * terms[1]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    if step % 25 == 0 or step == 149:
        print(f"{step:3d}  residual {res.item():.4f}  boundary {terms[0].item():.4f}"
              f"  initial {terms[1].item():.4f}  weights {weights.tolist()}")
