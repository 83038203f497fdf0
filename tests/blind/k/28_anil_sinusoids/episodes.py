import math
from dataclasses import dataclass

import torch


@dataclass
class Episode:
    x: torch.Tensor       # support first, then query
    y: torch.Tensor
    shots: int


def sinusoid(shots=5, queries=10):
    amplitude = 0.5 + 2.0 * torch.rand(1)
    phase = math.pi * torch.rand(1)
    x = torch.rand(shots + queries, 1) * 8 - 4
    return Episode(x, amplitude * torch.sin(x + phase), shots)
