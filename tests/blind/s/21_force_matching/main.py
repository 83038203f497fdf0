"""Fit a neural potential to energies and forces of small Lennard-Jones clusters."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from potential import ClusterPotential


@dataclass
class Options:
    clusters: int = 96
    atoms: int = 5
    batch: int = 16
    epochs: int = 10
    lr: float = 5e-3
    force_weight: float = 5.0
    seed: int = 5


def reference(pos):
    """Morse-like pair energies and their analytic forces."""
    pos = pos.clone().requires_grad_(True)
    diff = pos[:, :, None] - pos[:, None]
    n = pos.shape[1]
    i, j = torch.triu_indices(n, n, offset=1)
    r = diff[:, i, j].norm(dim=-1)
    energy = ((1 - torch.exp(-1.2 * (r - 1.2))) ** 2 - 1).sum(dim=1)
    forces = -torch.autograd.grad(energy.sum(), pos)[0]
    return energy.detach(), forces


def make_clusters(opt):
    g = torch.Generator().manual_seed(opt.seed)
    corners = torch.tensor([[0, 0, 0], [1.3, 0, 0], [0, 1.3, 0], [0, 0, 1.3], [1.2, 1.2, 1.2]])
    pos = corners[: opt.atoms] + 0.15 * torch.randn(opt.clusters, opt.atoms, 3, generator=g)
    energy, forces = reference(pos)
    return pos, energy - energy.mean(), forces


class Fitter:
    def __init__(self, model, opt):
        self.model = model
        self.opt = opt
        self.optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr)

    def loss(self, out, energy, forces):
        e = F.mse_loss(out["energy"], energy)
        f = F.mse_loss(out["forces"], forces)
        return e + self.opt.force_weight * f, e.item(), f.item()

    def epoch(self, pos, energy, forces):
        sums = torch.zeros(2)
        order = torch.randperm(len(pos))
        for idx in order.split(self.opt.batch):
            out = self.model(pos[idx])
            loss, e, f = self.loss(out, energy[idx], forces[idx])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            sums += torch.tensor([e, f]) * len(idx)
        return sums / len(pos)


def main():
    opt = Options()
    torch.manual_seed(opt.seed)
    pos, energy, forces = make_clusters(opt)
    fitter = Fitter(ClusterPotential(), opt)
    for k in range(opt.epochs):
        e, f = fitter.epoch(pos, energy, forces)
        print(f"epoch {k}  energy mse {e:.4f}  force mse {f:.4f}")


if __name__ == "__main__":
    main()
