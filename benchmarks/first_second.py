"""What the beginning costs: the first passes of a line are walked, and silent problems are looked for at once.

Every measurement is made in a copy of the process that has not been watched before: it trains for as many steps as a
plain program does in a second. Also `import gradsan`, `install()` and `uninstall()` themselves.
`python benchmarks/first_second.py [--quick] [--out FILE]`.
"""

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch

from measuring import (
    PLAIN,
    Answer,
    Figure,
    Row,
    Wish,
    answer,
    differences,
    in_copy,
    rounds_of,
    scaled,
    spread,
)
from models import MODELS, Step

ROUNDS = 5
STARTS = 15
WARM = 20  # plain steps before all others: torch itself has a beginning, too
RUN = 10.0  # seconds of the run that the first second is set against
DETAILED = 300  # steps, for what `--details` costs at first
SHOWN = ("perceptron for digits", "transformer")
OWN = [str(each) for each in Path(__file__).parent.glob("*.py") if each.name != "models.py"]


def install(exclude: Sequence[str] = OWN) -> None:
    """As a program does it."""
    import gradsan

    gradsan.install(exclude=exclude)


def run(exclude: Sequence[str] = OWN, *, details: bool = False) -> None:
    """As `gradsan run` does it."""
    from gradsan.entry import installing
    from gradsan.entry.session import Session

    installing.take_over(Session(exclude=exclude, keeps_ledger=True, details=details))


MODES: dict[str, Callable[[], None]] = {
    PLAIN: lambda: None,
    "install": install,
    "run": run,
    "run --details": partial(run, details=True),
}


def timed(mode: Callable[[], None], step: Step, steps: int) -> list[float]:
    """CPU seconds at the end of each step."""
    mode()
    begun = time.process_time()
    ends = []
    for _ in range(steps):
        step()
        ends.append(time.process_time() - begun)
    return ends


def beginning(name: str, wish: Wish) -> tuple[Row, dict[str, list[tuple[float, float]]]]:
    """One model."""
    step = MODELS[name]().step
    warm = timed(MODES[PLAIN], step, WARM)
    steps = 5 if wish.quick else max(20, int(WARM / warm[-1]))
    seen: dict[str, list[list[float]]] = {}

    def side(mode: str) -> float:
        ends: list[float] = in_copy(partial(timed, MODES[mode], step, steps))
        seen.setdefault(mode, []).append(ends)
        return ends[-1]

    found = rounds_of({mode: partial(side, mode) for mode in MODES}, wish.rounds(ROUNDS))
    figures = {"steps": Figure(spread([steps]), unit="")}
    for mode, each in differences(found, "s").items():
        null = None if each.null is None else scaled(each.null, 1e3)
        figures[mode] = Figure(scaled(each.value, 1e3), null, "ms")
        of_run = None if each.null is None else scaled(each.null, 100 / RUN)
        figures[f"{mode}, of a run of ten seconds"] = Figure(scaled(each.value, 100 / RUN), of_run, "%")
    if name == "perceptron for digits":
        figures |= _detailed(seen, min(DETAILED, steps))
    curves = {f"{mode}, {name}": _more(seen[mode], seen[PLAIN]) for mode in ("install", "run")}
    return Row(name, figures), curves


def _detailed(seen: dict[str, list[list[float]]], steps: int) -> dict[str, Figure]:
    """The first steps with `--details`, against those of `gradsan run` alone."""
    ends = {mode: [each[steps - 1] for each in runs] for mode, runs in seen.items()}
    detailed = [more / less for more, less in zip(ends["run --details"], ends["run"], strict=True)]
    plain = ends[PLAIN]  # two of every round
    null = [again / first for first, again in zip(plain[::2], plain[1::2], strict=True)]
    return {f"the first {steps} steps of run --details, against run": Figure(spread(detailed), spread(null))}


def _more(watched: Sequence[Sequence[float]], plain: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """How many milliseconds more were spent, step by step, at some of the steps."""
    steps = len(plain[0])
    marks = sorted({min(steps, max(1, round(steps * 1.2**-each))) for each in range(60)})
    usual = [statistics.median(each[mark - 1] for each in plain) for mark in marks]
    found = [statistics.median(each[mark - 1] for each in watched) for mark in marks]
    return [(float(mark), (more - less) * 1e3) for mark, more, less in zip(marks, found, usual, strict=True)]


def starts(wish: Wish) -> list[Row]:
    """The calls themselves, in a process that has torch, and not gradsan."""

    def calls() -> list[float]:
        clock = [time.process_time()]
        clock.append(time.process_time())  # nothing between these two
        import gradsan

        clock.append(time.process_time())
        for act in (gradsan.install, gradsan.uninstall, gradsan.install, gradsan.uninstall):
            act()
            clock.append(time.process_time())
        return [end - begin for begin, end in itertools.pairwise(clock)]

    found = [in_copy(calls) for _ in range(wish.rounds(STARTS))]
    nothing, *columns = [spread([each * 1e3 for each in column]) for column in zip(*found, strict=True)]
    names = ("`import gradsan`", "`install()`", "`uninstall()`", "`install()` again", "`uninstall()` again")
    return [Row(name, {"takes": Figure(each, nothing, "ms")}) for name, each in zip(names, columns, strict=True)]


def question(wish: Wish) -> Answer:
    """The calls first: nothing of gradsan is loaded then."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rows = starts(wish)
    curves: dict[str, list[tuple[float, float]]] = {}
    for name in SHOWN[:1] if wish.quick else SHOWN:
        row, of_model = beginning(name, wish)
        rows.append(row)
        curves |= of_model
    return Answer(rows, curves)


if __name__ == "__main__":
    answer(question)
