"""What watching costs: a watched step of training against a plain one, and what other tools make of the same step.

One process trains one model, and is watched in some stretches of its steps: then nothing else differs between
neighbours. It is measured after the first seconds; `first_second.py` asks about those.
`python benchmarks/overhead.py [--quick] [--device cuda] [--out FILE]`.
"""

import gc
import importlib
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch
from torch.optim import optimizer as optimizers
from torch.utils._python_dispatch import TorchDispatchMode

import models
from gradsan.observe import passes
from gradsan.observe.sanitizer import Sanitizer
from measuring import PLAIN, Answer, Figure, Row, Spread, Wish, answer, compare, scaled, spread
from models import MODELS, WORST, Step, Training, tiny_ops

ROUNDS, FEW = 40, 6  # for what costs a few percent, and for what costs a multiple
ROUNDS_BY_THE_WALL = 140  # the clock of the wall is shared with all other work on the machine
STRETCH = 0.04  # seconds of steps that are timed together
ADAPTING = 0.005  # seconds of steps before them that are not: the interpreter adapts to what has changed
SLOW = 3.0  # seconds of a step, of which few are measured
SETTLED = 2.0  # seconds of work: what the search for silent problems is granted at a run's start has been spent by then
GOALS = ((5.0, 1.01), (1.0, 1.03), (0.3, 1.06))  # from so many milliseconds a step on, the most that watching may cost
ALTERED = "<not the user's>"  # the name of a file whose lines nobody records
OWN = [str(each) for each in Path(__file__).parent.glob("*.py") if each.name != "models.py"]

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
def sanitized(stretches: "Stretches", settled: float, *, ledger: bool, details: bool = False) -> Iterator[Switch]:
    """As `gradsan.install()` does it; with a ledger, as `gradsan run` does."""
    step, now = stretches.step, stretches.timer.now
    watching = Watching.before(functions_of(models, step))
    sanitizer = Sanitizer(exclude=[*OWN, ALTERED], details=details)
    if ledger:
        sanitizer.keep_ledger()
    sanitizer.start()
    until = now() + settled
    while now() < until:
        step()
    try:
        switch = watching.switch()
        yield switch
        switch(True)  # noqa: FBT003 # on
    finally:
        sanitizer.close_ledger()
        sanitizer.stop()


class Nothing(TorchDispatchMode):
    """The least that a tool can do which is called for every op."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401 # torch's signature
        """Call it."""
        return func(*args, **(kwargs or {}))


@dataclass(frozen=True)
class Timer:
    """Times stretches of steps, with the processor's clock, or where a device is waited for, with that of the wall."""

    device: str

    def seconds(self, step: Step, repeats: int) -> float:
        """Of one step, on average."""
        begun = self.now()
        for _ in range(repeats):
            step()
        return (self.now() - begun) / repeats

    def now(self) -> float:
        """What the machine does for others is not in the processor's clock."""
        if self.device == "cuda":
            torch.cuda.synchronize()
            return time.perf_counter()
        return time.process_time()


@dataclass(frozen=True)
class Stretches:
    """How a model's steps are timed."""

    step: Step
    timer: Timer
    repeats: int
    adapting: int

    @classmethod
    def of(cls, step: Step, timer: Timer) -> "Stretches":
        """Long enough for the clock, and short enough for neighbours to be alike."""
        for _ in range(3):
            step()
        one = timer.seconds(step, 5)
        return cls(step, timer, max(1, int(STRETCH / one)), max(2, min(10, int(ADAPTING / one))))

    def seconds(self) -> float:
        """Of a step, in a stretch of them."""
        for _ in range(self.adapting):
            self.step()
        return self.timer.seconds(self.step, self.repeats)

    def switched(self, switch: Switch, *, is_on: bool) -> float:
        """The same, watched or not."""
        switch(is_on)
        return self.seconds()

    def within(self, mode: Callable[[], AbstractContextManager[Any]]) -> float:
        """The same, within a context."""
        with mode():
            return self.seconds()


def watched(stretches: Stretches, wish: Wish, *, rounds: int, ledger: bool, details: bool = False) -> Figure:
    """One mode of gradsan's, against plain."""
    with sanitized(stretches, 0.1 if wish.quick else SETTLED, ledger=ledger, details=details) as switch:
        gc.collect()
        sides = {
            PLAIN: lambda: stretches.switched(switch, is_on=False),
            "watched": lambda: stretches.switched(switch, is_on=True),
        }
        return compare(sides, wish.rounds(rounds))["watched"]


def others(stretches: Stretches, wish: Wish) -> dict[str, Figure]:
    """What PyTorch offers itself."""
    sides = {
        PLAIN: stretches.seconds,
        "anomaly mode": lambda: stretches.within(lambda: torch.autograd.detect_anomaly(check_nan=False)),
        "no-op TorchDispatchMode": lambda: stretches.within(Nothing),
    }
    return compare(sides, wish.rounds(FEW))


def goal_for(milliseconds: float) -> float | None:
    """The most that watching a step of this length may cost."""
    return next((most for least, most in GOALS if milliseconds >= least), None)


def question(wish: Wish) -> Answer:
    """All models, all modes; TorchLens last, since it changes torch for as long as the process lives."""
    warnings.simplefilter("ignore")  # anomaly mode says each time that it is slow
    torch.manual_seed(0)
    torch.set_num_threads(1)
    # After a plain stretch a pass seems to be unlike the one before, and would be looked at more often than it is.
    passes._SHARE_OF_NEW = passes._SHARE  # noqa: SLF001 # no program needs to set them
    timer = Timer(wish.device)
    rounds = ROUNDS_BY_THE_WALL if wish.device == "cuda" else ROUNDS
    wanted = dict(list(MODELS.items())[:1]) if wish.quick else MODELS
    rows: list[Row] = []
    trainings: list[tuple[str, Training, Spread]] = []
    for name, make in wanted.items():
        with torch.device(wish.device):
            training = make()
        stretches = Stretches.of(training.step, timer)
        plain = spread([stretches.seconds() for _ in range(5)])
        goal = goal_for(plain.middle * 1e3)
        figures = {
            "install": replace(watched(stretches, wish, rounds=rounds, ledger=False), goal=goal),
            "run": replace(watched(stretches, wish, rounds=rounds, ledger=True), goal=goal),
        }
        if make is models.perceptron:
            figures["run --details"] = watched(stretches, wish, rounds=ROUNDS, ledger=True, details=True)
        rows.append(_row(name, plain, figures | others(stretches, wish)))
        trainings.append((name, training, plain))
    if not wish.quick and wish.device == "cpu":
        rows.append(_worst(timer, wish))
    facts = _traced(rows, trainings, timer, wish)
    return Answer(rows, facts=facts)


def _row(name: str, plain: Spread, figures: dict[str, Figure]) -> Row:
    return Row(name, {"a plain step": Figure(scaled(plain, 1e3), unit="ms")} | figures)


def _worst(timer: Timer, wish: Wish) -> Row:
    """No training has such steps: it is what a line costs, and nothing else."""
    with torch.device(wish.device):
        stretches = replace(Stretches.of(tiny_ops().step, timer), adapting=1)
    plain = spread([stretches.seconds() for _ in range(3)])
    figures = {
        "install": watched(stretches, wish, rounds=FEW, ledger=False),
        "run": watched(stretches, wish, rounds=FEW, ledger=True),
    }
    return _row(WORST, plain, figures)


def _traced(rows: list[Row], trainings: list[tuple[str, Training, Spread]], timer: Timer, wish: Wish) -> dict[str, str]:
    """Put TorchLens's figures into the rows. Its plain neighbours were measured before it came: it leaves wrappers."""
    if importlib.util.find_spec("torchlens") is None:
        return {"TorchLens": "not installed"}
    torchlens = importlib.import_module("torchlens")

    facts = {}
    for row, (name, training, plain) in zip(rows, trainings, strict=False):
        step = _traced_step(torchlens, training)
        try:
            step()
            first = timer.seconds(step, 1)
            found = [first, *(timer.seconds(step, 1) for _ in range(wish.rounds(1 if first > SLOW else 4)))]
        except Exception as error:  # noqa: BLE001 # whatever another tool cannot do is said, and the rest goes on
            facts[f"TorchLens, {name}"] = f"{type(error).__name__}: {error}".partition("\n")[0]
            continue
        ratio = spread([each / plain.middle for each in found])
        row.figures["TorchLens"] = Figure(ratio, scaled(plain, 1 / plain.middle))
    return facts


def _traced_step(torchlens: Any, training: Training) -> Step:  # noqa: ANN401 # a module without types
    """The model's step, with its call made by TorchLens."""
    model, objective, optimizer = training.model, training.objective, training.optimizer
    assert model is not None  # noqa: S101 # the one without a model is not asked for
    assert objective is not None  # noqa: S101 # likewise
    assert optimizer is not None  # noqa: S101 # likewise

    def step() -> None:
        optimizer.zero_grad()
        trace = torchlens.trace(model, training.inputs)
        loss = objective(trace[trace.output_layers[0]].out)
        loss.backward()
        optimizer.step()

    return step


if __name__ == "__main__":
    answer(question)
