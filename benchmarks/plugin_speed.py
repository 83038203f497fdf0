"""What `pytest --gradsan` costs a test: a session of few equal tests and one of many, with the option and without.

The difference between many and few is what tests cost, and nothing of what a session does.
`python benchmarks/plugin_speed.py [--quick] [--out FILE]`.
"""

import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from measuring import AGAIN, PLAIN, Answer, Figure, Row, Wish, answer, rounds_of, seconds_of_command, spread

ROUNDS = 3
FEW, MANY = 5, 105
PROGRAMS = {
    "a test without a backward pass": """\
import pytest


@pytest.mark.parametrize("number", range({count}))
def test_number(number):
    assert number >= 0
""",
    "a test that trains three steps": """\
import pytest
import torch


@pytest.mark.parametrize("number", range({count}))
def test_training(number):
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.ones(2, 3)).square().mean()
        loss.backward()
        optimizer.step()
""",
}


def seconds(file: Path, *options: str) -> float:
    """Of a session."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(file)]
    return seconds_of_command(words, cwd=file.parent, env=os.environ | {"OMP_NUM_THREADS": "1"})


def milliseconds_more(few: list[float], many: list[float], few_plain: list[float], many_plain: list[float]) -> Figure:
    """What a test costs more."""
    each = zip(few, many, few_plain, many_plain, strict=True)
    return Figure(spread([((b - a) - (d - c)) / (MANY - FEW) * 1e3 for a, b, c, d in each]), unit="ms")


def question(wish: Wish) -> Answer:
    """Both kinds."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (kind, program) in enumerate(PROGRAMS.items()):
            found = []
            for count in (FEW, MANY):
                file = Path(folder) / f"test_{number}_{count}.py"
                file.write_text(program.format(count=count), encoding="utf-8")
                sides = {PLAIN: partial(seconds, file), "watched": partial(seconds, file, "--gradsan")}
                found.append(rounds_of(sides, wish.rounds(ROUNDS)))
            few, many = found
            more = milliseconds_more(few["watched"], many["watched"], few[PLAIN], many[PLAIN])
            null = milliseconds_more(few[AGAIN], many[AGAIN], few[PLAIN], many[PLAIN])
            rows.append(Row(kind, {"costs more": Figure(more.value, null.value, "ms")}))
            if wish.quick:
                break
    return Answer(rows)


if __name__ == "__main__":
    answer(question)
