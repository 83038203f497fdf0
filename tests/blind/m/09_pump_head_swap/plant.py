import torch


def vibration(count, faults):
    """Spectra of 16 bins with a peak that depends on the fault."""
    y = torch.randint(faults, (count,))
    x = 0.5 * torch.randn(count, 16)
    x[torch.arange(count), 3 * y] += 2.0
    return x, y
