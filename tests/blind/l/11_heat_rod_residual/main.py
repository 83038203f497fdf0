"""Physics-informed network for the heat equation u_t = k u_xx on a rod."""
import math

import torch
import torch.nn as nn

torch.manual_seed(4)
K = 0.1


class Field(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(),
                                 nn.Linear(width, width), nn.Tanh(),
                                 nn.Linear(width, 1))

    def forward(self, xt):
        return self.net(xt)


def d(out, wrt):
    return torch.autograd.grad(out.sum(), wrt, create_graph=True)[0]


def residual(field, xt):
    xt = xt.clone().requires_grad_(True)
    x, t = xt[:, 0:1], xt[:, 1:2]
    u = field(xt)
    u_t = d(u, t)
    u_xx = d(d(u, x), x)
    return u_t - K * u_xx


def initial(n):
    x = torch.rand(n, 1)
    return torch.cat([x, torch.zeros_like(x)], 1), torch.sin(math.pi * x)


def walls(n):
    x = (torch.rand(n, 1) > 0.5).float()
    return torch.cat([x, torch.rand(n, 1)], 1)


field = Field()
optimizer = torch.optim.Adam(field.parameters(), lr=2e-3)

for it in range(12):
    inside = torch.rand(64, 2)
    start, u0 = initial(32)

    loss_pde = residual(field, inside).pow(2).mean()
    loss_ic = (field(start) - u0).pow(2).mean()
    loss_bc = field(walls(32)).pow(2).mean()
    loss = loss_pde + 10 * loss_ic + loss_bc

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 4 == 0:
        print(it, f"pde {loss_pde.item():.4f} ic {loss_ic.item():.4f} bc {loss_bc.item():.4f}")
