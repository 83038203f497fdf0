"""What a long job pays: memory against the length of the run, and the share of the time that a budget is charged.

Each mode trains in a copy of the process. How much more memory it has than at its start is noted as the steps go on: a
job of a week has what a job of a minute has, if this does not rise any more than in the plain copy.
`python benchmarks/production.py [--quick] [--out FILE]`.
"""

import gc
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

import first_second
from measuring import AGAIN, PLAIN, Answer, Figure, Row, Wish, answer, in_copy, spread

STEPS, MARKS = 120_000, 40  # what is noted is bounded, and fills up for half of them
LAST = MARKS // 4  # marks, of which the growth is told
BUDGET = "0.5%"


def resident() -> float:
    """MB of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


def budgeted() -> None:
    """As a job in production does it."""
    import gradsan

    gradsan.install(budget=BUDGET)


def charged() -> tuple[float, float]:
    """Seconds that the budget was charged so far, by its own count, and how long it has been kept."""
    from gradsan.entry import installing

    session = installing.current_session()
    whole = None if session is None else session.sanitizer.attention._budget  # noqa: SLF001 # what it counts itself
    return (0.0, 1.0) if whole is None else (whole.debt + whole.grant + whole.share * whole.gone_by, whole.gone_by)


def trained(mode: Callable[[], None], steps: int) -> tuple[list[tuple[float, float]], float, float]:
    """Memory as the steps go on; at last, CPU seconds of a step, and seconds charged for one."""
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.01)
    mode()
    every = steps // MARKS
    gc.collect()
    first = resident()
    points, took, spent = [], [], []
    for mark in range(1, MARKS + 1):
        begun = time.process_time()
        for _ in range(every):
            optimizer.zero_grad()
            loss = weight.square().sum()
            loss.backward()
            optimizer.step()
        took.append((time.process_time() - begun) / every)
        spent.append(charged()[0])
        points.append((float(mark * every), resident() - first))
    of_a_step = (spent[-1] - spent[-1 - LAST]) / (every * LAST)
    return points, statistics.median(took[-LAST:]), of_a_step


MODES: dict[str, Callable[[], None]] = {
    PLAIN: first_second.MODES[PLAIN],
    AGAIN: first_second.MODES[PLAIN],
    "install()": partial(first_second.install, ()),  # the loop that trains is in this file: it is the user's
    "run": partial(first_second.run, ()),
    f'install(budget="{BUDGET}")': budgeted,
}


def question(wish: Wish) -> Answer:
    """One run of each mode: memory is no matter of luck."""
    torch.set_num_threads(1)
    steps = MARKS * 5 if wish.quick else STEPS
    import gradsan  # loaded in all copies, so that its code is in none of the figures

    gradsan.install()
    gradsan.uninstall()
    rows, curves = [], {}
    plain = 0.0
    for name, mode in MODES.items():
        points, seconds, of_a_step = in_copy(partial(trained, mode, steps))
        plain = plain or seconds
        growth = (points[-1][1] - points[-1 - LAST][1]) / (points[-1][0] - points[-1 - LAST][0]) * 1e3
        figures = {
            "more memory at the end": Figure(spread([points[-1][1]]), unit="MB"),
            "growth in the last quarter": Figure(spread([growth * 1e3]), unit="KB for 1,000 steps"),
            "a step takes": Figure(spread([seconds * 1e6]), unit="µs"),
            "against plain": Figure(spread([seconds / plain])),
        }
        if of_a_step:
            figures["charged for a step"] = Figure(spread([of_a_step * 1e6]), unit="µs")
        rows.append(Row(name, figures))
        curves[name] = points
    return Answer(rows, curves, {"steps": f"{steps:,}"})


if __name__ == "__main__":
    answer(question)
