"""What watching costs: a step of training with the line log, the sanitizer, or anomaly mode, against a plain step.

They are taken in turns within one run, many times; printed are the median ratios to the plain neighbour, with
quartiles. `python benchmarks/overhead.py [ROUNDS] [DEVICE] [MODEL…]`.
"""

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from models import Step, conv, lightgcn, lstm, mlp, small_mlp, tiny_ops, transformer

from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.sanitizer import Sanitizer

ROUNDS = 30
MEASURED = 0.3  # seconds of each mode in a round: silent problems are followed in windows, and some are to fall into it
FIRST_LOOKS = 1.5  # seconds: what the search for silent problems is granted at a run's start has been spent by then
DISTURBED = 1.5
MODELS = (mlp, small_mlp, lstm, transformer, conv, lightgcn, tiny_ops)


@contextmanager
def sanitized(*, lines: bool = True, ledger: bool = False) -> Iterator[None]:
    """Passes and steps are noted; perhaps lines too, and silent problems looked for."""
    sanitizer = Sanitizer(lines=lines)
    if ledger:
        sanitizer.keep_ledger()
    sanitizer.start()
    try:
        yield
    finally:
        sanitizer.close_ledger()
        sanitizer.stop()


@contextmanager
def lines_only() -> Iterator[None]:
    """The line log alone."""
    recorder = LineRecorder()
    recorder.start()
    try:
        yield
    finally:
        recorder.stop()


MODES: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "plain": nullcontext,
    "lines": lines_only,
    "notes": lambda: sanitized(lines=False),  # `gradsan.install(lines=False)`
    "install": sanitized,
    "run": lambda: sanitized(ledger=True),
    "anomaly": lambda: torch.autograd.set_detect_anomaly(True, check_nan=False),  # torch's signature
}


def seconds(step: Step, repeats: int, synchronize: Callable[[], None], together: int) -> float:
    """The time of a step, on average. What took half as long again as most was disturbed from outside, and is left out.

    `together`: how many are timed at once; a device is waited for only after those.
    """
    times = []
    # Of the processor, where all work is done there: then other programs on the machine count for less.
    now = time.process_time if together == 1 else time.perf_counter
    synchronize()
    for _ in range(max(1, repeats // together)):
        begun = now()
        for _ in range(together):
            step()
        synchronize()
        times.append((now() - begun) / together)
    usual = statistics.median(times)
    return statistics.fmean(each for each in times if each <= DISTURBED * usual)


def ratios(
    make: Callable[[], Step], rounds: int, synchronize: Callable[[], None], together: int
) -> dict[str, list[float]]:
    """For every mode, its time against the plain one of the same round; the order changes from round to round."""
    step = make()
    for _ in range(5):
        step()
    repeats = max(2, int(MEASURED / max(seconds(step, 3, synchronize, 1), 1e-6)))
    found: dict[str, list[float]] = {mode: [] for mode in MODES}
    modes = list(MODES)
    for turn in range(rounds):
        times = {}
        for mode in modes[turn % len(modes) :] + modes[: turn % len(modes)]:
            with MODES[mode]():
                begun = time.perf_counter()
                for _ in range(max(8, repeats // 4)):  # past the passes that are always walked
                    step()
                while mode == "run" and time.perf_counter() - begun < FIRST_LOOKS:
                    step()
                gc.collect()
                times[mode] = seconds(step, repeats, synchronize, together)
        for mode in modes:
            found[mode].append(times[mode] / times["plain"])
    return found


def main() -> None:
    """Print a table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"  # noqa: PLR2004 # the second argument
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.set_default_device(device)
    synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
    print(
        f"Python {sys.version.split()[0]}, torch {torch.__version__}, {device}, median of {rounds} ratios (quartiles)"
    )
    wanted = sys.argv[3:]
    for make in (each for each in MODELS if not wanted or each.__name__ in wanted):
        few = max(3, rounds // 4) if make is tiny_ops else rounds
        row = f"{make.__name__:12}"
        for mode, values in ratios(make, few, synchronize, 10 if device == "cuda" else 1).items():
            if mode != "plain":
                low, middle, high = statistics.quantiles(values, n=4)
                row += f"   {mode} {middle:6.3f}x ({low:.3f} to {high:.3f})"
        print(row, flush=True)


if __name__ == "__main__":
    main()
