"""Fit energies and forces of a toy molecule."""
import torch
from torch import nn

from molecules import Frames


class Potential(nn.Module):
    def __init__(self, centers=8):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.5, 3.0, centers))
        self.atom = nn.Sequential(nn.Linear(centers, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, positions):
        away = positions.unsqueeze(1) - positions.unsqueeze(2)
        distance = (away.pow(2).sum(-1) + 1e-6).sqrt()
        features = torch.exp(-(distance.unsqueeze(-1) - self.centers) ** 2).sum(2)
        return self.atom(features).sum((1, 2))


def forces(energy, positions):
    gradient, = torch.autograd.grad(energy.sum(), positions, create_graph=True)
    return -gradient


class Fit:
    def __init__(self, potential, force_weight):
        self.potential = potential
        self.force_weight = force_weight
        self.optimizer = torch.optim.Adam(potential.parameters(), lr=0.01)

    def errors(self, frame):
        positions = frame["positions"].clone().requires_grad_()
        energy = self.potential(positions)
        predicted = forces(energy, positions)
        return (energy - frame["energy"]).pow(2).mean(), (predicted - frame["forces"]).pow(2).mean()

    def step(self, frame):
        self.optimizer.zero_grad()
        energy_error, force_error = self.errors(frame)
        loss = energy_error + self.force_weight * force_error
        loss.backward()
        self.optimizer.step()
        return energy_error.item(), force_error.item()


def main():
    torch.manual_seed(15)
    fit = Fit(Potential(), force_weight=2.0)
    for epoch in range(3):
        for frame in Frames(seed=150, batches=4):
            energy, force = fit.step(frame)
        print(f"epoch {epoch}: energy {energy:.4f} forces {force:.4f}")


if __name__ == "__main__":
    main()
