"""Fit a neural pair potential to energies and forces of small argon-like clusters.

The reference is a Lennard-Jones potential; the model sees distances through a
radial basis and sums a pair energy over all pairs.
"""
import torch
from torch import nn

torch.manual_seed(77)

ATOMS = 5
FORCE_WEIGHT = 0.2


def pair_distances(positions):
    i, j = torch.triu_indices(ATOMS, ATOMS, offset=1)
    return (positions[:, i] - positions[:, j]).norm(dim=-1)


def lennard_jones(positions):
    inv6 = pair_distances(positions).pow(-6)
    return (4 * (inv6**2 - inv6)).sum(1)


def reference_set(count):
    """Clusters on a jittered line of stacked triangles, with energies and forces."""
    base = torch.tensor([[0.0, 0, 0], [1.1, 0, 0], [0.55, 0.95, 0], [0.55, 0.3, 0.9], [0.55, 0.3, -0.9]])
    positions = base + 0.05 * torch.randn(count, ATOMS, 3)
    positions.requires_grad_(True)
    energy = lennard_jones(positions)
    (slope,) = torch.autograd.grad(energy.sum(), positions)
    return positions.detach(), energy.detach(), -slope


class RadialBasis(nn.Module):
    def __init__(self, count=10, low=0.8, high=2.2):
        super().__init__()
        self.register_buffer("centres", torch.linspace(low, high, count))
        self.gamma = (count / (high - low)) ** 2

    def forward(self, r):
        return torch.exp(-self.gamma * (r.unsqueeze(-1) - self.centres) ** 2)


class PairPotential(nn.Module):
    def __init__(self):
        super().__init__()
        self.basis = RadialBasis()
        self.net = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 1, bias=False))
        self.offset = nn.Parameter(torch.zeros(()))

    def forward(self, positions):
        pairs = self.net(self.basis(pair_distances(positions)))
        return pairs.squeeze(-1).sum(1) + self.offset


def energy_and_forces(potential, positions):
    positions = positions.clone().requires_grad_(True)
    energy = potential(positions)
    pull = torch.autograd.grad(energy.sum(), positions)[0]
    return energy, -pull


def train(potential, data, epochs=6, batch=16):
    positions, energies, forces = data
    optimiser = torch.optim.Adam(potential.parameters(), lr=5e-3)
    for epoch in range(epochs):
        e_err = f_err = 0.0
        for rows in torch.randperm(len(positions)).split(batch):
            energy, force = energy_and_forces(potential, positions[rows])
            miss_e = (energy - energies[rows]).pow(2).mean()
            miss_f = (force - forces[rows]).pow(2).sum(-1).mean()
            optimiser.zero_grad()
            (miss_e + FORCE_WEIGHT * miss_f).backward()
            optimiser.step()
            e_err += miss_e.item() * len(rows)
            f_err += miss_f.item() * len(rows)
        print(f"epoch {epoch}: energy mse {e_err / len(positions):.3f}, force mse {f_err / len(positions):.3f}")


if __name__ == "__main__":
    clusters = reference_set(64)
    model = PairPotential()
    train(model, clusters)
