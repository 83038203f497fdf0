"""A deep equilibrium layer: fixed point without a graph, implicit gradient by a hook."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.outer = nn.Linear(width, width)
        nn.init.normal_(self.inner.weight, std=0.3 / width ** 0.5)

    def forward(self, z, x):
        return torch.tanh(self.inner(z) + self.outer(x))


def iterate(f, start, steps):
    z = start
    for _ in range(steps):
        z = f(z)
    return z


class Equilibrium(nn.Module):
    def __init__(self, cell, steps=12):
        super().__init__()
        self.cell, self.steps = cell, steps

    def forward(self, x):
        with torch.no_grad():
            z = iterate(lambda z: self.cell(z, x), torch.zeros_like(x), self.steps)
        z = self.cell(z, x)  # attaches the parameters
        if not self.training:
            return z

        z0 = z.detach().requires_grad_()
        f0 = self.cell(z0, x)

        def implicit(gradient):
            step = lambda g: torch.autograd.grad(f0, z0, g, retain_graph=True)[0] + gradient
            return iterate(step, gradient, self.steps)

        z.register_hook(implicit)
        return z


class Model(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.into = nn.Linear(6, width)
        self.solve = Equilibrium(Cell(width))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.solve(self.into(x)))


torch.manual_seed(85)
x = torch.randn(320, 6)
y = torch.sin(x[:, :1]) * x[:, 1:2] + 0.3 * x[:, 2:3]
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    model.train()
    total = 0.0
    for rows in torch.randperm(320).split(40):
        loss = F.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 8
    model.eval()
    with torch.no_grad():
        print(f"epoch {epoch}: training {total:.4f} evaluation {F.mse_loss(model(x), y):.4f}")
