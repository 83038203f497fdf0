"""Cooperative training of an energy model and a generator that starts its Langevin chains."""
import math

import torch

from networks import Energy, Generator
from fixed_sampler import langevin


def ring(count):
    angle = 2 * math.pi * torch.rand(count)
    radius = 1.5 + 0.1 * torch.randn(count)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1)


def train(epochs=8, batches=15, size=128):
    energy, generator = Energy(), Generator()
    energy_opt = torch.optim.Adam(energy.parameters(), lr=1e-3, betas=(0.0, 0.9))
    generator_opt = torch.optim.Adam(generator.parameters(), lr=1e-3)

    for epoch in range(epochs):
        log = {"energy": 0.0, "teach": 0.0, "radius": 0.0}
        for _ in range(batches):
            real = ring(size)
            proposed = generator(torch.randn(size, 4))
            revised = langevin(energy, proposed, steps=15)

            # 1. the energy model learns from data and from the revised samples
            e_real, e_fake = energy(real), energy(revised)
            energy_loss = e_real.mean() - e_fake.mean() + 0.3 * (e_real ** 2 + e_fake ** 2).mean()
            energy_opt.zero_grad()
            energy_loss.backward()
            energy_opt.step()

            # 2. the generator chases its own samples as the energy model has revised them
            teach = (proposed - revised.detach()).pow(2).sum(1).mean()
            generator_opt.zero_grad()
            teach.backward()
            generator_opt.step()

            log["energy"] += energy_loss.item() / batches
            log["teach"] += teach.item() / batches
            log["radius"] += revised.detach().norm(dim=1).mean().item() / batches
        print(f"epoch {epoch}: " + "  ".join(f"{k} {v:+.4f}" for k, v in log.items()))
    return generator


if __name__ == "__main__":
    torch.manual_seed(8)
    generator = train()
    with torch.no_grad():
        print("radius of samples", round(generator(torch.randn(500, 4)).norm(dim=1).mean().item(), 3))
