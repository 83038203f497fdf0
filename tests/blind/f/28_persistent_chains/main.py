"""An energy model trained with persistent Langevin chains."""
import torch
from torch import nn


class Chains:
    """Sampling particles that live on from update to update."""

    def __init__(self, count):
        self.particles = torch.randn(count, 2)

    def advance(self, energy, count, steps=15, step=0.1, noise=0.05):
        chosen = torch.randint(len(self.particles), (count,))
        x = self.particles[chosen]
        restart = torch.rand(count) < 0.05
        x[restart] = torch.randn(int(restart.sum()), 2)
        for parameter in energy.parameters():
            parameter.requires_grad_(False)
        x.requires_grad_()
        for _ in range(steps):
            (slope,) = torch.autograd.grad(energy(x).sum(), x)
            x.data.sub_(step * slope.clamp(-1, 1)).add_(noise * torch.randn_like(x))
        for parameter in energy.parameters():
            parameter.requires_grad_(True)
        self.particles[chosen] = x.detach()
        return x.detach()


def clusters(count):
    centres = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
    return centres[torch.randint(3, (count,))] + 0.25 * torch.randn(count, 2)


def main():
    torch.manual_seed(70)
    energy = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(energy.parameters(), lr=1e-3, betas=(0.0, 0.99))
    chains = Chains(512)
    test = clusters(300)
    for iteration in range(80):
        negative = chains.advance(energy, 96)
        e_data, e_model = energy(clusters(96)), energy(negative)
        contrast = e_data.mean() - e_model.mean()
        loss = contrast + 0.1 * (e_data.pow(2) + e_model.pow(2)).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(energy.parameters(), 0.1)
        optimizer.step()
        if iteration % 20 == 19:
            with torch.no_grad():
                gap = energy(3 * torch.randn(300, 2)).mean() - energy(test).mean()
            print(f"iteration {iteration + 1}: contrast {contrast.item():+.4f}, background minus data {gap.item():+.4f}")


main()
