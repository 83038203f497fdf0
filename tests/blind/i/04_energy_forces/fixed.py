"""Interatomic potential fitted to energies and forces; forces are the negative gradient of the energy."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Potential(nn.Module):
    """Sum over pairs of a learned function of the distance."""

    def __init__(self, width=24, centers=10):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.8, 3.5, centers))
        self.net = nn.Sequential(nn.Linear(centers, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, positions):
        n = positions.shape[1]
        i, j = torch.triu_indices(n, n, offset=1)
        distance = (positions[:, i] - positions[:, j]).norm(dim=-1)
        basis = torch.exp(-4 * (distance[..., None] - self.centers).square())
        return self.net(basis).sum((1, 2))


def morse(positions):
    n = positions.shape[1]
    i, j = torch.triu_indices(n, n, offset=1)
    r = (positions[:, i] - positions[:, j]).norm(dim=-1)
    return ((1 - torch.exp(-1.2 * (r - 1.4))).square() - 1).sum(1)


def forces_of(energy_function, positions):
    positions = positions.clone().requires_grad_(True)
    energy = energy_function(positions)
    gradient, = torch.autograd.grad(energy.sum(), positions, create_graph=True)
    return energy, -gradient


def clusters(n, atoms=4):
    square = torch.tensor([[0., 0, 0], [1.5, 0, 0], [0, 1.5, 0], [1.5, 1.5, 0.5]])[:atoms]
    positions = square + 0.2 * torch.randn(n, atoms, 3)
    energy, forces = forces_of(morse, positions)
    return positions, energy.detach(), forces.detach()


def main():
    torch.manual_seed(64)
    positions, energies, forces = clusters(120)
    model = Potential()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(12):
        energy_sum = force_sum = 0.0
        for rows in torch.randperm(120).split(24):
            energy, force = forces_of(model, positions[rows])
            energy_loss = F.mse_loss(energy, energies[rows])
            force_loss = F.mse_loss(force, forces[rows])
            loss = 0.1 * energy_loss + force_loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            energy_sum += energy_loss.item() / 5
            force_sum += force_loss.item() / 5
        if epoch % 3 == 2:
            print(f"epoch {epoch}: energy {energy_sum:.4f}  force {force_sum:.4f}")


if __name__ == "__main__":
    main()
