"""Fit a small invariant potential to energies and forces of Morse clusters."""
import argparse

import torch
import torch.nn as nn


def morse_energy(pos, depth=1.0, width=1.5, r0=1.2):
    i, j = torch.triu_indices(pos.shape[1], pos.shape[1], offset=1)
    r = (pos[:, i] - pos[:, j]).norm(dim=-1)
    return (depth * (1 - torch.exp(-width * (r - r0))) ** 2 - depth).sum(dim=1)


def make_clusters(n, atoms, seed):
    g = torch.Generator().manual_seed(seed)
    base = 1.3 * torch.tensor([[0., 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])[:atoms]
    pos = base + 0.15 * torch.randn(n, atoms, 3, generator=g)
    pos.requires_grad_(True)
    energy = morse_energy(pos)
    forces = -torch.autograd.grad(energy.sum(), pos)[0]
    return pos.detach(), energy.detach(), forces


class RadialBasis(nn.Module):
    def __init__(self, n_basis=16, cutoff=4.0):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.5, cutoff, n_basis))
        self.gamma = (n_basis / cutoff) ** 2 / 2

    def forward(self, r):
        return torch.exp(-self.gamma * (r.unsqueeze(-1) - self.centers) ** 2)


class PairPotential(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.rbf = RadialBasis()
        self.edge = nn.Sequential(nn.Linear(16, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.atom = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1))
        self.shift = nn.Parameter(torch.zeros(()))

    def forward(self, pos):
        n = pos.shape[1]
        diff = pos.unsqueeze(2) - pos.unsqueeze(1)
        eye = torch.eye(n, device=pos.device)
        r = ((diff ** 2).sum(-1) + eye).sqrt()
        messages = self.edge(self.rbf(r)) * (1 - eye).unsqueeze(-1)
        return self.atom(messages.sum(dim=2)).squeeze(-1).sum(dim=1) + self.shift


def energy_and_forces(model, pos):
    pos = pos.detach().requires_grad_(True)
    energy = model(pos)
    grad, = torch.autograd.grad(energy.sum(), pos)
    return energy, -grad


class EnergyForceLoss:
    def __init__(self, w_energy, w_force):
        self.w_energy, self.w_force = w_energy, w_force
        self.mse = nn.MSELoss()

    def __call__(self, pred, target):
        (e, f), (e_ref, f_ref) = pred, target
        e_term, f_term = self.mse(e, e_ref), self.mse(f, f_ref)
        return self.w_energy * e_term + self.w_force * f_term, e_term.item(), f_term.item()


def evaluate(model, data):
    pos, e_ref, f_ref = data
    e, f = energy_and_forces(model, pos)
    return (e - e_ref).abs().mean().item(), (f - f_ref).abs().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=9)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--w-energy", type=float, default=0.05)
    ap.add_argument("--w-force", type=float, default=1.0)
    args = ap.parse_args()

    torch.manual_seed(0)
    train = make_clusters(192, 5, seed=1)
    valid = make_clusters(48, 5, seed=2)
    model = PairPotential()
    model.shift.data.fill_(train[1].mean())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = EnergyForceLoss(args.w_energy, args.w_force)

    for epoch in range(args.epochs):
        perm = torch.randperm(len(train[0]))
        e_sum = f_sum = 0.0
        for chunk in perm.split(args.batch):
            pos, e_ref, f_ref = (t[chunk] for t in train)
            pred = energy_and_forces(model, pos)
            loss, e_mse, f_mse = criterion(pred, (e_ref, f_ref))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            e_sum += e_mse * len(chunk)
            f_sum += f_mse * len(chunk)
        mae_e, mae_f = evaluate(model, valid)
        print(f"epoch {epoch + 1}: E mse {e_sum / len(perm):.4f}  F mse {f_sum / len(perm):.4f}  "
              f"valid MAE E {mae_e:.4f} F {mae_f:.4f}")


if __name__ == "__main__":
    main()
