import math

import torch

GAUGES = {"harbour": 0.0, "pier": 0.4, "lock": 1.1, "island": 2.0}
BLOCK = 12


def level(hours, phase):
    return torch.sin(2 * math.pi * hours / 12.42 + phase) + 0.3 * torch.sin(2 * math.pi * hours / 24.0 + phase)


def blocks(days):
    """Yield (gauge, levels, levels one hour later), all gauges of one half day after the other."""
    for start in range(0, 24 * days, BLOCK):
        hours = torch.arange(start, start + BLOCK + 1, dtype=torch.float32)
        for gauge, phase in GAUGES.items():
            series = level(hours, phase).unsqueeze(0)
            yield gauge, series[:, :-1], series[:, 1:]
