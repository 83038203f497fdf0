"""What `gradsan.install(budget="0.5%")` costs a job as it goes on.

`python benchmarks/production.py [SECONDS] [BUDGET]`.

One process trains one small model, first plain, then watched. For each stretch: how long a step takes against a plain
one, which share of the time the watching has taken so far by its own count, and how much memory the process has more
than after the first stretch. A job of a week costs what a job of a minute costs, if these figures do not rise.
"""

import statistics
import sys
import time
from pathlib import Path

import torch

import gradsan
from gradsan.entry import installing

STRETCHES = 10


def resident() -> float:
    """MB of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def training() -> "tuple[torch.nn.Module, torch.optim.Optimizer, torch.Tensor]":
    """What is trained: steps of about half a millisecond, where watching is felt most."""
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
    return model, torch.optim.SGD(model.parameters(), lr=0.01), torch.ones(32, 64)


def stretch(job: "tuple[torch.nn.Module, torch.optim.Optimizer, torch.Tensor]", seconds: float) -> tuple[float, int]:
    """Train for so long; the median time of a step, and how many there were."""
    model, optimizer, batch = job
    took = []
    end = time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        took.append(time.perf_counter() - began)
    return statistics.median(took), len(took)


def main(seconds: float, budget: str) -> None:
    """Print a line for each stretch."""
    torch.set_num_threads(1)
    job = training()
    stretch(job, 1.0)
    plain, _ = stretch(job, seconds / STRETCHES)
    gradsan.install(budget=budget)
    assert installing._installed is not None  # noqa: S101, SLF001 # it was installed just now
    whole = installing._installed.sanitizer.attention._budget  # noqa: SLF001 # what it counts itself
    assert whole is not None  # noqa: S101 # likewise
    print(f"budget {budget}; a plain step takes {plain * 1e6:.0f} us")
    steps, first = 0, 0.0
    for number in range(1, STRETCHES + 1):
        median, count = stretch(job, seconds / STRETCHES)
        steps += count
        first = first or resident()
        spent = whole.debt + whole.grant + whole.share * whole.gone_by
        print(
            f"{number * seconds / STRETCHES:6.0f} s, {steps:9,} steps: {median / plain:.3f} of a plain step, "
            f"{spent / whole.gone_by:.3%} of the time, {resident() - first:+.1f} MB"
        )


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    main(float(given.get(1, 60)), given.get(2, "0.5%"))
