"""Self-adaptive PINN for the wave equation u_tt = u_xx (McClenny & Braga-Neto).

Each collocation point has a weight. It is a saddle point problem: the network goes down
and the weights go up on one and the same loss. Both updates of an iteration
are simultaneous, from the gradient at the same network and the same weights.
"""
import math

import torch
import torch.nn as nn

torch.manual_seed(21)
N_INSIDE, N_START = 64, 32

points = torch.rand(N_INSIDE, 2)
x0 = torch.rand(N_START, 1)
start = torch.cat([x0, torch.zeros_like(x0)], dim=1)
u_start = torch.sin(math.pi * x0)

net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
weight_inside = nn.Parameter(torch.rand(N_INSIDE, 1))
weight_start = nn.Parameter(torch.rand(N_START, 1))

net_opt = torch.optim.Adam(net.parameters(), lr=2e-3)
weight_opt = torch.optim.Adam([weight_inside, weight_start], lr=5e-3, maximize=True)


def residual(xt):
    xt = xt.clone().requires_grad_(True)
    u = net(xt)
    grad, = torch.autograd.grad(u.sum(), xt, create_graph=True)
    u_xx = torch.autograd.grad(grad[:, 0].sum(), xt, create_graph=True)[0][:, 0:1]
    u_tt = torch.autograd.grad(grad[:, 1].sum(), xt, create_graph=True)[0][:, 1:2]
    return u_tt - u_xx


for it in range(25):
    r = residual(points)
    loss_inside = (weight_inside * r).pow(2).mean()
    loss_start = (weight_start * (net(start) - u_start)).pow(2).mean()
    loss = loss_inside + loss_start

    # down for the network
    net_opt.zero_grad()
    loss.backward()
    net_opt.step()

    # up for the weights (maximize=True)
    weight_opt.zero_grad()
    loss.backward()
    weight_opt.step()

    if it % 6 == 0:
        print(f"{it:3d} loss {loss.item():.4f} mean weight {weight_inside.mean().item():.3f}")
