"""Implicit layer z = tanh(W z + U x): fixed point forward, implicit gradient backward."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from implicit import solve_fixed_point


class ImplicitLayer(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.W = nn.Parameter(0.3 * torch.randn(width, width) / width ** 0.5)
        self.U = nn.Linear(inputs, width)

    def step(self, z, injected):
        return torch.tanh(z @ self.W.T + injected)

    def forward(self, x):
        return solve_fixed_point(self.step, self.U(x), self.W)


class Model(nn.Module):
    def __init__(self, inputs, width, classes):
        super().__init__()
        self.implicit = ImplicitLayer(inputs, width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.implicit(x))


def spirals(n):
    y = torch.randint(0, 2, (n,))
    r = torch.rand(n) * 2
    a = 2 * r + 3.14159 * y
    return torch.stack([r * a.cos(), r * a.sin()], 1) + 0.03 * torch.randn(n, 2), y


def main():
    torch.manual_seed(9)
    x, y = spirals(300)
    model = Model(2, 32, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(12):
        losses = []
        for rows in torch.randperm(300).split(50):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
