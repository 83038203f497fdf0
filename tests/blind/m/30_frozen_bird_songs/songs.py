import torch

SPECIES = 4


def recordings(count, samples=64):
    species = torch.randint(SPECIES, (count,))
    t = torch.linspace(0, 6.2832, samples)
    pitch = 2.0 + 3.0 * species.unsqueeze(1) + 0.3 * torch.randn(count, 1)
    return torch.sin(pitch * t) + 0.2 * torch.randn(count, samples), species
