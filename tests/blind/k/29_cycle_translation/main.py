"""Translate stripes to checks and back."""
import random

import torch

from cycle_model import CycleModel


def stripes(n, size=8):
    phase = torch.randint(0, 2, (n, 1, 1, 1))
    rows = (torch.arange(size).view(1, 1, size, 1) + phase) % 2
    return (rows.float() * 2 - 1).expand(n, 1, size, size) * 0.8 + 0.05 * torch.randn(n, 1, size, size)


def checks(n, size=8):
    phase = torch.randint(0, 2, (n, 1, 1, 1))
    grid = (torch.arange(size).view(1, 1, size, 1) + torch.arange(size).view(1, 1, 1, size) + phase) % 2
    return (grid.float() * 2 - 1) * 0.8 + 0.05 * torch.randn(n, 1, size, size)


def main():
    torch.manual_seed(79)
    random.seed(79)
    model = CycleModel()
    for it in range(24):
        model.optimize(stripes(4), checks(4))
        if it % 6 == 0:
            print(it, model.losses())


if __name__ == "__main__":
    main()
