import torch

SITES = 3


def draw(count):
    """Eight lab values, whether the patient is ill, and the hospital."""
    ill = torch.randint(2, (count,))
    hospital = torch.randint(SITES, (count,))
    x = torch.randn(count, 8)
    x[:, 0] += 1.5 * ill
    x[:, 1] -= 1.0 * ill
    x[:, 2] += 1.2 * hospital
    x[:, 0] += 0.4 * hospital
    return x, ill, hospital
