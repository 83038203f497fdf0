"""What watching costs: a step of training with the line log, the sanitizer, or anomaly mode, against a plain step.

Two machines, two processes, even two runs of one process differ by more than what is to be measured. So one process
trains one model, and is watched in every second stretch of some steps: then nothing else differs between neighbours.
Printed are the median ratios of such pairs, with quartiles. `python benchmarks/overhead.py [PAIRS] [DEVICE] [MODEL…]`.
"""

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

import models
import torch
from models import Step, conv, lightgcn, lstm, mlp, small_mlp, tiny_ops, transformer
from torch.optim import optimizer as optimizers

from gradsan.observe import passes
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.sanitizer import Sanitizer

PAIRS = 100
STRETCH = 0.06  # seconds of each side of a pair
AFTER_SWITCH = 10  # steps that are not timed: the interpreter adapts to what has changed
DISTURBED = 1.3
SETTLED = 2.0  # seconds: what the search for silent problems is granted at a run's start has been spent by then
MODELS = (mlp, small_mlp, lstm, transformer, conv, lightgcn, tiny_ops)
ALTERED = "<not the user's>"  # the name of a file whose lines nobody records

Switch = Callable[[bool], None]


def functions_of(module: ModuleType, step: Step) -> list[FunctionType]:
    """All functions of the user's that a step may run."""
    found = [step, *(cell.cell_contents for cell in getattr(step, "__closure__", None) or ()), *vars(module).values()]
    classes = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == "models"]
    methods = [value for each in classes for value in vars(each).values() if isinstance(value, FunctionType)]
    return [each for each in (*found, *methods) if isinstance(each, FunctionType)]


def renamed(code: CodeType) -> CodeType:
    """The same code as of a file that is not the user's."""
    parts = [renamed(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    return code.replace(co_filename=ALTERED, co_consts=tuple(parts))


@dataclass
class Watching:
    """The places that a watched process differs in from a plain one, each as it was before and as it is now."""

    functions: list[FunctionType]
    plain: list[CodeType]

    @classmethod
    def before(cls, functions: list[FunctionType]) -> "Watching":
        """To be called before anything is watched."""
        return cls(functions, [renamed(each.__code__) for each in functions])

    def switch(self) -> Switch:
        """To be called when all is watched: what it returns lets go of all that, and takes it up again."""
        codes = [each.__code__ for each in self.functions]
        engine = vars(torch.autograd)["_engine_run_backward"]
        hooks: list[tuple[Any, Any]] = [
            (every, dict(every))
            for every in (optimizers._global_optimizer_pre_hooks, optimizers._global_optimizer_post_hooks)  # noqa: SLF001 # where they are
        ]

        def switch(is_on: bool) -> None:  # noqa: FBT001 # a switch
            for function, watched, plain in zip(self.functions, codes, self.plain, strict=True):
                function.__code__ = watched if is_on else plain
            vars(torch.autograd)["_engine_run_backward"] = engine if is_on else PLAIN_ENGINE
            for every, kept in hooks:
                every.clear()
                every.update(kept if is_on else {})

        return switch


PLAIN_ENGINE: Any = vars(torch.autograd)["_engine_run_backward"]


@contextmanager
def sanitized(watching: Watching, settle: Step, *, lines: bool = True, ledger: bool = False) -> Iterator[Switch]:
    """Passes and steps are noted; perhaps lines too, and silent problems looked for."""
    sanitizer = Sanitizer(lines=lines, exclude=[__file__, ALTERED])
    if ledger:
        sanitizer.keep_ledger()
    sanitizer.start()
    settle()
    try:
        switch = watching.switch()
        yield switch
        switch(True)  # noqa: FBT003 # on
    finally:
        sanitizer.close_ledger()
        sanitizer.stop()


@contextmanager
def lines_only(watching: Watching, settle: Step) -> Iterator[Switch]:
    """The line log alone."""
    recorder = LineRecorder(exclude=[__file__, ALTERED])
    recorder.start()
    recorder.adopt()
    settle()
    try:
        switch = watching.switch()
        yield switch
        switch(True)  # noqa: FBT003 # on
    finally:
        recorder.stop()


@contextmanager
def anomaly(_: Watching, settle: Step) -> Iterator[Switch]:
    """PyTorch's own way to find a forward line, without its search for NaN."""
    settle()

    def switch(is_on: bool) -> None:  # noqa: FBT001 # a switch
        torch.autograd.set_detect_anomaly(is_on, check_nan=False)

    yield switch
    switch(False)  # noqa: FBT003 # off


Mode = Callable[[Watching, Step], AbstractContextManager[Switch]]

MODES: dict[str, Mode] = {
    "lines": lines_only,
    "notes": lambda watching, settle: sanitized(watching, settle, lines=False),  # `gradsan.install(lines=False)`
    "install": sanitized,
    "run": lambda watching, settle: sanitized(watching, settle, ledger=True),
    "anomaly": anomaly,
}


@dataclass(frozen=True)
class Clock:
    """How time is taken: of so many steps at once, for a device is waited for only after those."""

    wait: Callable[[], None]
    together: int

    def seconds(self, step: Step, repeats: int) -> float:
        """The time of a step, on average. What took longer than most by more than watching ever adds was disturbed."""
        times = []
        self.wait()
        for _ in range(max(1, repeats // self.together)):
            begun = time.perf_counter()
            for _ in range(self.together):
                step()
            self.wait()
            times.append((time.perf_counter() - begun) / self.together)
        most = DISTURBED * statistics.median(times)
        return statistics.fmean(min(each, most) for each in times)


def ratios(step: Step, mode: Mode, pairs: int, clock: Clock) -> list[float]:
    """The time of a watched stretch against the plain one beside it, many times."""

    def settle() -> None:
        begun = time.perf_counter()
        while time.perf_counter() - begun < SETTLED:
            step()

    watching = Watching.before(functions_of(models, step))
    found = []
    with mode(watching, settle) as switch:
        repeats = max(1, int(STRETCH / clock.seconds(step, 3)))
        gc.collect()
        for pair in range(pairs):
            times = {}
            for is_on in (pair % 2 == 0, pair % 2 == 1):
                switch(is_on)
                for _ in range(min(AFTER_SWITCH, repeats)):
                    step()
                times[is_on] = clock.seconds(step, repeats)
            found.append(times[True] / times[False])
    return found


def main() -> None:
    """Print a table."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"  # noqa: PLR2004 # the second argument
    torch.manual_seed(0)
    torch.set_num_threads(1)
    # After a plain stretch a pass seems to be unlike the one before, and would be looked at more often than it is.
    passes._SHARE_OF_NEW = passes._SHARE  # noqa: SLF001 # no program needs to set them
    clock = Clock(torch.cuda.synchronize, 10) if device == "cuda" else Clock(lambda: None, 1)
    print(f"Python {sys.version.split()[0]}, torch {torch.__version__}, {device}, median of {pairs} ratios (quartiles)")
    wanted = sys.argv[3:]
    for make in (each for each in MODELS if not wanted or each.__name__ in wanted):
        with torch.device(device):
            step = make()
        row = f"{make.__name__:12} {1e3 * clock.seconds(step, 100):7.2f} ms"
        for name, mode in MODES.items():
            few = max(4, pairs // 4) if make is tiny_ops else pairs
            low, middle, high = statistics.quantiles(ratios(step, mode, few, clock), n=4)
            row += f"   {name} {middle:6.3f}x ({low:.3f} to {high:.3f})"
        print(row, flush=True)


if __name__ == "__main__":
    main()
