"""Deep equilibrium layer with implicit differentiation."""
import torch
import torch.nn as nn
from torch import autograd


def fixed_point(f, z0, max_iter=25, tol=1e-4):
    """Plain Picard iteration; returns the point and the residuals on the way."""
    z, residuals = z0, []
    for _ in range(max_iter):
        nxt = f(z)
        residuals.append((nxt - z).norm().item() / (1e-5 + nxt.norm().item()))
        z = nxt
        if residuals[-1] < tol:
            break
    return z, residuals


class Cell(nn.Module):
    """z -> tanh(W z + U x); W is kept small so that the map contracts."""

    def __init__(self, dim_x, dim_z):
        super().__init__()
        self.W = nn.Linear(dim_z, dim_z)
        self.U = nn.Linear(dim_x, dim_z, bias=False)
        with torch.no_grad():
            self.W.weight.mul_(0.5)

    def forward(self, z, x):
        return torch.tanh(self.W(z) + self.U(x))


class Equilibrium(nn.Module):
    """Output z* = f(z*, x).

    Only one application of f is recorded.  The hook turns the incoming gradient
    g into the solution y of  y = J' y + g, with J the Jacobian of f at z*.
    """

    def __init__(self, cell, dim_z, **solver_args):
        super().__init__()
        self.cell = cell
        self.dim_z = dim_z
        self.solver_args = solver_args
        self.forward_res, self.backward_res = [], []

    def forward(self, x):
        start = x.new_zeros(len(x), self.dim_z)
        with torch.no_grad():
            z, self.forward_res = fixed_point(lambda u: self.cell(u, x), start, **self.solver_args)
        z = self.cell(z, x)
        if not torch.is_grad_enabled():
            return z

        z0 = z.detach().clone().requires_grad_()
        f0 = self.cell(z0, x)

        def implicit_gradient(grad):
            y, self.backward_res = fixed_point(
                lambda u: autograd.grad(f0, z0, u, retain_graph=True)[0] + grad, grad, **self.solver_args)
            return y

        z.register_hook(implicit_gradient)
        return z
