"""What explaining costs as a recurrence grows: microseconds for each op of the graph, at 400, 1,600 and 6,400 steps.

A recurrence of few steps is explained in the process first, so that loading and reading source are paid for. Each
length is then tried in a copy of that process, and the fastest of some explanations counts; what is to be seen is the
ratio of the last column to the first. `python benchmarks/explaining.py [STEPS…]`.
"""

import os
import sys
import time

import torch
from torch import nn

import gradsan

STEPS = (400, 1_600, 6_400)
TRIES = 3


class Cell(nn.Module):
    """A recurrent cell of one's own."""

    def __init__(self) -> None:
        super().__init__()
        self.taken, self.kept = nn.Linear(4, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        """The next state."""
        return torch.tanh(self.taken(x) + self.kept(h))


def explained(steps: int) -> tuple[float, int]:
    """The seconds from the failing pass to its explanation, and the ops of its graph."""
    cell, h = Cell(), torch.zeros(1, 8)
    opt = torch.optim.SGD(cell.parameters(), lr=0.1)
    begun = 0.0
    try:
        for _ in range(2):
            for x in torch.ones(steps, 1, 4):
                h = cell(x, h)
            opt.zero_grad()
            begun = time.perf_counter()
            h.sum().backward()
            opt.step()
    except RuntimeError as error:
        seconds = time.perf_counter() - begun
        found = gradsan.explain(error)
        if found is None or found.code != "GS103":
            raise
        return seconds, len(found.path) + found.elided
    raise AssertionError(steps)


def main() -> None:
    """Print a line a length."""
    lengths = tuple(map(int, sys.argv[1:])) or STEPS
    gradsan.install()
    explained(8)
    print("steps   ops on the path   seconds   microseconds per op", flush=True)
    for steps in lengths:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            continue
        seconds, ops = min(explained(steps) for _ in range(TRIES))
        print(f"{steps:5}   {ops:15}   {seconds:7.2f}   {seconds / ops * 1e6:19.1f}", flush=True)
        os._exit(0)  # each in a copy of its own: the third explanation of one line is the last that is always made


if __name__ == "__main__":
    main()
