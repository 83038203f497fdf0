"""Physics-informed network for the viscous Burgers equation."""
import math

import torch
from torch import nn
from torch.autograd import grad


class PINN(nn.Module):
    def __init__(self, width=16, depth=2):
        super().__init__()
        layers = [nn.Linear(2, width), nn.Tanh()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.Tanh()]
        self.net = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, t, x):
        return self.net(torch.cat([t, x], dim=1))


def residual(model, t, x, nu=0.01 / math.pi):
    t = t.clone().requires_grad_(True)
    x = x.clone().requires_grad_(True)
    u = model(t, x)
    u_t = grad(u, t, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    u_x = grad(u, x, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    u_xx = grad(u_x, x, grad_outputs=torch.ones_like(u_x), create_graph=True)[0]
    return u_t + u * u_x - nu * u_xx


def boundary(n):
    x = torch.linspace(-1, 1, n).unsqueeze(1)
    start = (torch.zeros(n, 1), x, -torch.sin(math.pi * x))
    t = torch.linspace(0, 1, n).unsqueeze(1)
    side = torch.where(torch.arange(n).unsqueeze(1) % 2 == 0, 1.0, -1.0)
    walls = (t, side, torch.zeros(n, 1))
    return [torch.cat(both) for both in zip(start, walls)]


def main():
    torch.manual_seed(1234)
    model = PINN()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    t_b, x_b, u_b = boundary(20)
    mse = nn.MSELoss()
    for it in range(30):
        t_f, x_f = torch.rand(40, 1), 2 * torch.rand(40, 1) - 1
        optimizer.zero_grad()
        loss_b = mse(model(t_b, x_b), u_b)
        f = residual(model, t_f, x_f)
        loss_f = mse(f, torch.zeros_like(f))
        loss = loss_b + loss_f
        loss.backward()
        optimizer.step()
        if it % 10 == 0:
            print(f"iter {it}: boundary {loss_b.item():.4f} residual {loss_f.item():.4f}")


if __name__ == "__main__":
    main()
