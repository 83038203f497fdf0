"""Learn a monotone transport map as the gradient of a convex potential.

By Brenier's theorem the optimal map between two clouds is T(x) = grad phi(x) with phi convex.
phi is an input convex neural network (ICNN), T is fitted to paired calibration points
(colours seen by camera A -> camera B) by mean squared error on T(x).
"""
import torch
from torch import nn
import torch.nn.functional as F


class ICNN(nn.Module):
    def __init__(self, dim=3, width=32, depth=2):
        super().__init__()
        self.first = nn.Linear(dim, width)
        self.skip = nn.ModuleList(nn.Linear(dim, width) for _ in range(depth))
        self.hidden = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(depth))
        self.out = nn.Linear(width, 1, bias=False)
        self.project()

    @torch.no_grad()
    def project(self):
        # convexity: weights on the z path must not be negative
        for layer in [*self.hidden, self.out]:
            layer.weight.clamp_(min=0)

    def forward(self, x):
        z = F.softplus(self.first(x))
        for skip, hidden in zip(self.skip, self.hidden):
            z = F.softplus(skip(x) + hidden(z))
        return self.out(z) + 0.5 * (x ** 2).sum(-1, keepdim=True)


def transport(phi, x):
    """T(x) = d phi / d x, one row per point."""
    x = x.detach().requires_grad_(True)
    potential = phi(x).sum()
    (t,) = torch.autograd.grad(potential, x)
    return t


def camera_pairs(n):
    a = torch.rand(n, 3)
    m = torch.tensor([[1.1, 0.1, 0.0], [0.1, 0.9, 0.05], [0.0, 0.05, 1.2]])
    b = (a @ m) ** 1.2 + 0.01 * torch.randn(n, 3)
    return a, b


def main():
    torch.manual_seed(17)
    a, b = camera_pairs(256)
    phi = ICNN()
    opt = torch.optim.Adam(phi.parameters(), lr=5e-3)
    for step in range(30):
        idx = torch.randint(0, len(a), (64,))
        loss = F.mse_loss(transport(phi, a[idx]), b[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        phi.project()
        if step % 10 == 0:
            print(f"step {step:2d}  mse {loss.item():.5f}")
    err = (transport(phi, a).detach() - b).abs().mean().item()
    print(f"mean colour error {err:.4f}")


main()
