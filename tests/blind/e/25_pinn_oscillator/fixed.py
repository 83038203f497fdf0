"""Physics-informed network for a damped oscillator: u'' + 2 d u' + w^2 u = 0, u(0) = 1, u'(0) = 0."""
from collections import defaultdict

import torch
import torch.nn as nn

D, W0 = 0.5, 3.0


class OscillatorNet(nn.Module):
    def __init__(self, width=24, depth=2):
        super().__init__()
        layers = [nn.Linear(1, width), nn.Tanh()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.Tanh()]
        self.net = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, t):
        return self.net(t)


def derivative(u, t):
    return torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]


def exact(t):
    w = (W0 ** 2 - D ** 2) ** 0.5
    return torch.exp(-D * t) * (torch.cos(w * t) + D / w * torch.sin(w * t))


class PINNSolver:
    def __init__(self, net, lr=5e-3, weights=(1.0, 20.0, 5.0)):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)
        self.weights = weights
        self.history = defaultdict(list)

    def residual_loss(self, count=64):
        t = (2 * torch.rand(count, 1)).requires_grad_(True)
        u = self.net(t)
        du = derivative(u, t)
        ddu = derivative(du, t)
        return (ddu + 2 * D * du + W0 ** 2 * u).pow(2).mean()

    def boundary_losses(self):
        t0 = torch.zeros(1, 1, requires_grad=True)
        u0 = self.net(t0)
        return (u0 - 1).pow(2).mean(), derivative(u0, t0).pow(2).mean()

    def step(self):
        self.optimizer.zero_grad()
        start, slope = self.boundary_losses()
        terms = {"residual": self.residual_loss(), "start": start, "slope": slope}
        loss = sum(w * term for w, term in zip(self.weights, terms.values()))
        loss.backward()
        self.optimizer.step()
        for name, term in terms.items():
            self.history[name].append(term.detach())

    def summary(self, last):
        return {name: torch.stack(values[-last:]).mean().item() for name, values in self.history.items()}


if __name__ == "__main__":
    torch.manual_seed(41)
    solver = PINNSolver(OscillatorNet())
    grid = torch.linspace(0, 2, 80).unsqueeze(1)
    for iteration in range(1, 201):
        solver.step()
        if iteration % 40 == 0:
            with torch.no_grad():
                error = (solver.net(grid) - exact(grid)).abs().max().item()
            parts = " ".join(f"{k} {v:.4f}" for k, v in solver.summary(40).items())
            print(f"iteration {iteration}: {parts} | max error {error:.4f}")
