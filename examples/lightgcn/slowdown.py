"""What gradsan costs a program here: its training without and with gradsan, in turns within one process.

`python slowdown.py torch_fixed` prints two medians: the ratio of processor time once gradsan's first looks are over,
and the seconds that those took.
"""

import importlib
import statistics
import sys
import time
from types import ModuleType

import gradsan

TURNS = 7
EPOCHS = 10


def seconds(program: ModuleType) -> float:
    """Train from the start; the program reports before and after."""
    reports: list[float] = []
    program.report = lambda *_: reports.append(time.process_time())  # type: ignore[attr-defined] # its own import
    program.main(EPOCHS)
    begun, ended = reports
    return ended - begun


def main() -> None:
    """Print both numbers."""
    program = importlib.import_module(sys.argv[1])
    seconds(program)  # the first one pays for what torch loads on its way
    ratios, first_looks = [], []
    for _ in range(TURNS):
        plain = seconds(program)
        with gradsan.watch():
            first = seconds(program)
            watched = seconds(program)
        ratios.append(watched / plain)
        first_looks.append(first - watched)
    print(f"{statistics.median(ratios):.2f} {statistics.median(first_looks):.1f}")


if __name__ == "__main__":
    main()
