"""Fixed-point layer: the forward pass iterates without a graph, the backward pass solves for the adjoint."""
import torch
from torch import nn


def iterate(f, start, tol=1e-5, limit=60):
    z = start
    for k in range(limit):
        nxt = f(z)
        if (nxt - z).norm() < tol * (1 + z.norm()):
            return nxt, k + 1
        z = nxt
    return z, limit


class Cell(nn.Module):
    """One application of the map whose fixed point is wanted."""

    def __init__(self, nodes, dim, adjacency):
        super().__init__()
        self.mix = nn.Linear(dim, dim, bias=False)
        self.inject = nn.Linear(dim, dim)
        self.register_buffer("adjacency", adjacency)
        with torch.no_grad():
            self.mix.weight.mul_(0.5)

    def forward(self, z, x):
        return torch.tanh(0.9 * self.adjacency @ self.mix(z) + self.inject(x))


class Equilibrium(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell
        self.forward_iters = 0
        self.backward_iters = 0

    def forward(self, x):
        with torch.no_grad():
            z, self.forward_iters = iterate(lambda z: self.cell(z, x), torch.zeros_like(x))
        z = self.cell(z, x)

        if z.requires_grad:
            z0 = z.detach().requires_grad_()
            f0 = self.cell(z0, x)

            def adjoint(grad):
                def step(y):
                    return torch.autograd.grad(f0, z0, y, retain_graph=True)[0] + grad
                solution, self.backward_iters = iterate(step, grad)
                return solution

            z.register_hook(adjoint)
        return z
