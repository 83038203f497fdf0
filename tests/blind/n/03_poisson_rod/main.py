"""Physics-informed net for  u''(x) = -pi^2 sin(pi x),  u(0) = u(1) = 0."""
import math
import torch
from torch import nn

torch.manual_seed(7)

net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
ends = torch.tensor([[0.0], [1.0]])


def pde_residual(x):
    x.requires_grad_(True)
    u = net(x)
    du = torch.autograd.grad(u.sum(), x)[0]
    d2u = torch.autograd.grad(du.sum(), x)[0]
    return d2u + math.pi ** 2 * torch.sin(math.pi * x)


for it in range(60):
    x = torch.rand(40, 1)
    loss_pde = pde_residual(x).pow(2).mean()
    loss_bc = net(ends).pow(2).mean()
    loss = loss_pde + 50.0 * loss_bc

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 20 == 0:
        print(it, loss_pde.item(), loss_bc.item())

with torch.no_grad():
    grid = torch.linspace(0, 1, 5)[:, None]
    print(torch.cat([grid, net(grid), torch.sin(math.pi * grid)], 1))
