"""How long commands take to begin, against a bare start of Python: CPU seconds of real processes.

Every command prints its help; those that can be asked for something small are, too.
`python benchmarks/startup.py [--quick] [--out FILE]`.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from gradsan.cli import every_command
from measuring import PLAIN, Answer, Figure, Row, Wish, answer, ratios, rounds_of, scaled, seconds_of_command, spread

ROUNDS = 5
SMALL = "x = 1\n"
TRAINING = """\
import torch

x = torch.ones(3, requires_grad=True)
x.sum().backward()
"""
IMPORTING = "`import torch`"
RUNNING = "`gradsan run` of a program with one pass"
PROGRAM = "the program without it"


def commands(home: Path) -> dict[str, list[str]]:
    """What is started, by its name on the page."""
    small, training = home / "small.py", home / "training.py"
    small.write_text(SMALL, encoding="utf-8")
    training.write_text(TRAINING, encoding="utf-8")
    root = click.Context(every_command)
    words = {f"`gradsan {each} --help`": [each, "--help"] for each in every_command.list_commands(root)}
    words |= {
        "`gradsan --version`": ["--version"],
        "`gradsan explain GS103`": ["explain", "GS103"],
        "`gradsan check` of one line": ["check", "--no-cache", str(small)],
        "`gradsan run` of one line": ["run", str(small)],
        RUNNING: ["run", str(training)],
    }
    found = {name: [sys.executable, "-m", "gradsan", *each] for name, each in words.items()}
    found[IMPORTING] = [sys.executable, "-c", "import torch"]
    found[PROGRAM] = [sys.executable, str(training)]
    return found


def question(wish: Wish) -> Answer:
    """All of them in every round."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        started = commands(home)
        if wish.quick:
            started = {name: started[name] for name in ("`gradsan --version`", "`gradsan explain GS103`")}

        def side(words: list[str]) -> Callable[[], float]:
            return partial(seconds_of_command, words, cwd=home, env=environment)

        sides = {PLAIN: side([sys.executable, "-c", ""])} | {name: side(words) for name, words in started.items()}
        for each in sides.values():
            each()  # their bytecode is written
        found = rounds_of(sides, wish.rounds(ROUNDS))
    against = ratios(found)
    rows = [Row("bare Python", {"CPU time": Figure(scaled(spread(found[PLAIN]), 1e3), unit="ms")})]
    for name, figure in against.items():
        takes = Figure(scaled(spread(found[name]), 1e3), unit="ms")
        rows.append(Row(name, {"CPU time": takes, "against bare Python": figure}))
    return Answer(rows)


if __name__ == "__main__":
    answer(question)
