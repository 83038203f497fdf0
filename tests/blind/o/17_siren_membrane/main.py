"""Vibrating membrane (Helmholtz equation) by a sine network.

    u_xx + u_yy + k^2 u = 0 in the unit square, u given on the border

Every sine layer has a frequency omega of its own. A fixed omega0 = 30 was a pain to
tune, so omega is learned together with the weights, starting from a small value.
"""
import math

import torch
import torch.nn as nn

torch.manual_seed(11)
K = math.pi * math.sqrt(2.0)


class SineLayer(nn.Module):
    def __init__(self, n_in, n_out, omega):
        super().__init__()
        self.linear = nn.Linear(n_in, n_out)
        self.omega = nn.Parameter(torch.tensor(omega))
        bound = math.sqrt(6.0 / n_in) / omega
        nn.init.uniform_(self.linear.weight, -bound, bound)

    def forward(self, x):
        w = self.omega.item()
        return torch.sin(w * self.linear(x))


class Siren(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.body = nn.Sequential(SineLayer(2, width, 4.0), SineLayer(width, width, 2.0))
        self.out = nn.Linear(width, 1)

    def forward(self, xy):
        return self.out(self.body(xy))


def exact(xy):
    return torch.sin(math.pi * xy[:, :1]) * torch.cos(math.pi * xy[:, 1:])


def border_points(n):
    s = torch.rand(n, 1)
    zero, one = torch.zeros(n, 1), torch.ones(n, 1)
    return torch.cat([torch.cat([s, zero], 1), torch.cat([s, one], 1),
                      torch.cat([zero, s], 1), torch.cat([one, s], 1)])


def helmholtz(net, xy):
    xy = xy.requires_grad_(True)
    u = net(xy)
    du, = torch.autograd.grad(u.sum(), xy, create_graph=True)
    u_xx = torch.autograd.grad(du[:, 0].sum(), xy, create_graph=True)[0][:, :1]
    u_yy = torch.autograd.grad(du[:, 1].sum(), xy, create_graph=True)[0][:, 1:]
    return u_xx + u_yy + K ** 2 * u


net = Siren()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)

for it in range(30):
    inside = torch.rand(64, 2)
    border = border_points(16)
    loss_pde = helmholtz(net, inside).pow(2).mean()
    loss_border = (net(border) - exact(border)).pow(2).mean()
    loss = 1e-2 * loss_pde + loss_border
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 10 == 0:
        omegas = [layer.omega.item() for layer in net.body]
        print(it, f"{loss.item():.4f}", "omega", [f"{w:.3f}" for w in omegas])
