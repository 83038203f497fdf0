"""How everything here is measured: in rounds, each with the plain program twice, and never by a single clock reading.

Two machines, two processes, even two minutes of one process differ by more than what is to be measured. So nothing is
compared but neighbours: a round measures each side once, in an order that is drawn, and gives one ratio for each. The
plain side is measured twice in every round: the ratio of the two is what would be found if there were nothing to find.
It stands beside every figure.
"""

import argparse
import os
import pickle
import platform
import random
import resource
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

PLAIN, AGAIN = "plain", "plain again"
RATIO = "ratio"


@dataclass(frozen=True)
class Spread:
    """What many measurements gave."""

    middle: float  # the median
    low: float  # quartiles: half of all measurements lie between these
    high: float
    least: float  # the median lies between these with a probability of 95 %
    most: float
    count: int


def spread(values: Sequence[float]) -> Spread:
    """Of any number of values. The interval of the median is that of order statistics: no distribution is assumed."""
    ordered = sorted(values)
    count = len(ordered)
    low, middle, high = statistics.quantiles(ordered, n=4, method="inclusive") if count > 1 else ordered * 3
    reach = 1.96 * count**0.5 / 2
    first, last = max(0, int(count / 2 - reach)), min(count - 1, int(count / 2 + reach))
    return Spread(middle, low, high, ordered[first], ordered[last], count)


@dataclass(frozen=True)
class Figure:
    """One number of a table."""

    value: Spread
    null: Spread | None = None  # the same comparison, of plain with plain
    unit: str = RATIO
    goal: float | None = None  # the most that it may be

    @property
    def verdict(self) -> str:
        """Whether the goal is met, as far as the measurements decide it."""
        if self.goal is None:
            return ""
        if self.value.most <= self.goal:
            return "met"
        return "missed" if self.value.least > self.goal else "not decided"


@dataclass(frozen=True)
class Row:
    """A line of a table: what was measured, and the figures about it."""

    subject: str
    figures: dict[str, Figure]


@dataclass(frozen=True)
class Answer:
    """What came out of one question."""

    rows: list[Row] = field(default_factory=list)
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)  # what was measured on, and what was left out


@dataclass(frozen=True)
class Wish:
    """How a question is asked."""

    quick: bool = False  # only to see that all of it works: the figures mean nothing
    device: str = "cpu"

    def rounds(self, usual: int) -> int:
        """How many, at this speed."""
        return 1 if self.quick else usual


@dataclass(frozen=True)
class Results:
    """All answers of one machine: a file in `benchmarks/results`."""

    machine: dict[str, str]
    versions: dict[str, str]
    quick: bool
    answers: dict[str, Answer]


Side = Callable[[], float]


def rounds_of(sides: Mapping[str, Side], rounds: int) -> dict[str, list[float]]:
    """What each side gave in every round. The plain side is measured twice in each."""
    sides = {PLAIN: sides[PLAIN], AGAIN: sides[PLAIN], **{name: side for name, side in sides.items() if name != PLAIN}}
    drawn = random.Random(0)  # noqa: S311 # no secret: an order
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name in drawn.sample(list(sides), len(sides)):
            found[name].append(sides[name]())
    return found


def ratios(found: Mapping[str, Sequence[float]]) -> dict[str, Figure]:
    """Each side against the plain one of the same round."""
    return _figures(found, lambda watched, plain: watched / plain, RATIO)


def differences(found: Mapping[str, Sequence[float]], unit: str) -> dict[str, Figure]:
    """What each side has more than the plain one of the same round."""
    return _figures(found, lambda watched, plain: watched - plain, unit)


def _figures(
    found: Mapping[str, Sequence[float]], relation: Callable[[float, float], float], unit: str
) -> dict[str, Figure]:
    def against(name: str) -> Spread:
        return spread([relation(*pair) for pair in zip(found[name], found[PLAIN], strict=True)])

    null = against(AGAIN)
    return {name: Figure(against(name), null, unit) for name in found if name not in (PLAIN, AGAIN)}


def compare(sides: Mapping[str, Side], rounds: int) -> dict[str, Figure]:
    """The ratio of each side to the plain one."""
    return ratios(rounds_of(sides, rounds))


def scaled(value: Spread, factor: float) -> Spread:
    """In another unit."""
    return Spread(
        middle=value.middle * factor,
        low=value.low * factor,
        high=value.high * factor,
        least=value.least * factor,
        most=value.most * factor,
        count=value.count,
    )


def in_copy(work: Callable[[], Any]) -> Any:  # noqa: ANN401 # whatever it returns
    """What it returns in a copy of this process: nothing that it loads, records or learns is there for the next."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(work(), pipe)
            status = 0
        except BaseException:  # noqa: BLE001 # a copy must not go on as if it were the original
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        sent = pipe.read()
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("a copy of the process failed")
    return pickle.loads(sent)  # noqa: S301 # our own


def seconds_of_command(words: Sequence[str], **how: Any) -> float:  # noqa: ANN401 # as subprocess has it
    """CPU seconds of a process and of those that it starts: what else the machine does is not in them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, **how)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of a line through the logarithms: 1 is linear, 2 is quadratic."""
    import math

    logs = [(math.log(x), math.log(y)) for x, y in points]
    return statistics.linear_regression([x for x, _ in logs], [y for _, y in logs]).slope


def machine(device: str) -> dict[str, str]:
    """On what it was measured, in words."""
    found = {"processor": _processor(), "cores": str(os.cpu_count()), "system": platform.system()}
    if device == "cuda":
        import torch

        found["GPU"] = torch.cuda.get_device_name()
    load = f"{os.getloadavg()[0]:.1f} of {os.cpu_count()} cores when it began"
    return found | {"taken": time.strftime("%Y-%m-%d"), "other work": load}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def versions() -> dict[str, str]:
    """Of all that is compared."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    found = {"Python": platform.python_version(), "gradsan": str(project["project"]["version"])}
    for name in ("torch", "torchlens", "torchfix", "ruff"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def asked() -> tuple[Wish, Path | None]:
    """What the command line of a question says: `[--quick] [--device cuda] [--out FILE]`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    return Wish(quick=given.quick, device=given.device), given.out


def answer(question: Callable[[Wish], Answer]) -> None:
    """Ask it as the command line says; print the figures, and write them where they are wanted."""
    wish, out = asked()
    found = question(wish)
    for row in found.rows:
        print(f"{row.subject}: " + ", ".join(f"{name} {_shown(each)}" for name, each in row.figures.items()))
    for name, value in found.facts.items():
        print(f"{name}: {value}")
    if out is not None:
        out.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1))


def _shown(figure: Figure) -> str:
    value, null = figure.value, figure.null
    beside = "" if null is None else f"; null {null.middle:.4g} ({null.low:.4g} to {null.high:.4g})"
    return f"{value.middle:.4g} ({value.low:.4g} to {value.high:.4g}{beside}) {figure.unit}"
