"""What the patch of `docs/upstream.md` costs: a step whose passes go through the patched function, against a plain one.

The patch is applied to a copy of the installed `torch/autograd/graph.py`, which is loaded beside it; one process trains
and has the engine's entry exchanged in some stretches of its steps.
`python benchmarks/upstream.py [--quick] [--device cuda] [--out FILE]`.
"""

import importlib.util
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from types import ModuleType

import torch

from measuring import PLAIN, Answer, Figure, Row, Wish, answer, differences, ratios, rounds_of, scaled, spread
from models import MODELS, Training
from overhead import ROUNDS, Stretches, Timer

PATCH = Path(__file__).parents[1] / "docs" / "upstream" / "name-the-freeing-pass.patch"
SHOWN = ("small perceptron", "perceptron for digits")


ALONE = "one op and its backward()"


def one_op() -> Training:
    """No step has less in it."""
    x = torch.ones(3, requires_grad=True)
    return Training(lambda: x.sum().backward())


class DoesNotApplyError(Exception):
    """The patch was made for another torch."""


def patched(folder: Path) -> Path:
    """A copy of the installed file, with the patch."""
    source = Path(torch.__file__).parent / "autograd" / "graph.py"
    copy = folder / "torch" / "autograd" / "graph.py"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(source.read_bytes())
    words = ["git", "apply", str(PATCH)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 # our own words
    if done.returncode:
        raise DoesNotApplyError(done.stderr.strip().partition("\n")[0])
    return copy


def loaded(file: Path) -> ModuleType:
    """As a module beside the one that torch has."""
    spec = importlib.util.spec_from_file_location("torch.autograd.patched_graph", file)
    assert spec is not None  # noqa: S101 # a file in Python
    assert spec.loader is not None  # noqa: S101 # likewise
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def question(wish: Wish) -> Answer:
    """Small steps, where it can be seen at all."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        try:
            module = loaded(patched(Path(folder)))
        except DoesNotApplyError as error:
            return Answer(facts={"the patch does not apply": str(error)})
    names = vars(torch.autograd)
    engines = {PLAIN: names["_engine_run_backward"], "patched": vars(module)["_engine_run_backward"]}
    makers = {ALONE: one_op} | {name: MODELS[name] for name in SHOWN}
    rows = []
    for name in list(makers)[:1] if wish.quick else makers:
        with torch.device(wish.device):
            step = makers[name]().step
        stretches = Stretches.of(step, Timer(wish.device))
        plain = spread([stretches.seconds() for _ in range(5)])

        def side(engine: str, stretches: Stretches = stretches) -> float:
            names["_engine_run_backward"] = engines[engine]
            return stretches.seconds()

        found = rounds_of({each: partial(side, each) for each in engines}, wish.rounds(ROUNDS))
        names["_engine_run_backward"] = engines[PLAIN]
        more = differences({each: [seconds * 1e6 for seconds in times] for each, times in found.items()}, "µs")
        figures = {"patched": ratios(found)["patched"], "more a step": more["patched"]}
        rows.append(Row(name, {"a plain step": Figure(scaled(plain, 1e3), unit="ms"), **figures}))
    return Answer(rows)


if __name__ == "__main__":
    answer(question)
