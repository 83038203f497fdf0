"""A budget that noting alone exceeds: lines are given up, and the rest is done in turns with nothing at all."""

import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.optim import optimizer as optimizers

from gradsan.entry.turns import Turns
from gradsan.observe.sanitizer import Sanitizer

SHARE = 0.005


@dataclass
class Watching:
    """Stands for a sanitizer that has noted so much in a second."""

    passes: int
    steps: int
    lines: int
    debt: float
    done: list[str] = field(default_factory=list)
    paid: float = 0.0

    def turns(self) -> Turns:
        """After that second."""
        sanitizer: Any = self
        self.seen, self.recorder = (0, 0), SimpleNamespace(pen=SimpleNamespace(written=0), stop=self._stop)
        self.attention = SimpleNamespace(debt=self.debt, is_spent=self.debt > 0, pay=self._pay)
        self.now = 0.0
        turns = Turns(sanitizer, SHARE, lambda: self.now)
        self.now, self.seen, self.recorder.pen.written = 1.0, (self.passes, self.steps), self.lines
        return turns

    def leave(self, seconds: float) -> None:
        """What is asked for."""
        self.done.append(f"leave for {seconds:.0f} s")

    def _stop(self) -> None:
        self.done.append("no lines")

    def _pay(self, seconds: float) -> None:
        self.paid += seconds


@pytest.mark.parametrize(
    ("watching", "done"),
    [
        (Watching(200, 200, 1000, debt=0.1), []),  # a step of 5 ms: 2.8 ms of a second
        (Watching(1000, 1000, 5000, debt=-0.1), []),  # too much, and granted for once
        (Watching(1000, 1000, 5000, debt=0.1), ["no lines"]),
        (Watching(4000, 4000, 20000, debt=0.1), ["leave for 40 s"]),
    ],
    ids=["held", "granted", "lines", "all"],
)
def test_what_is_too_much_is_done_less(watching: Watching, done: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A line, a pass and a step cost about the same; what costs least is given up last."""
    watching.turns().rests()

    assert watching.done == done
    assert watching.paid == pytest.approx((watching.passes + watching.steps + watching.lines) * 2e-6)
    assert ("the budget is 0.50%" in capsys.readouterr().err) == bool(done)


def test_as_much_is_saved_as_the_last_search_took() -> None:
    """Twice that, for it may have ended early; and it is said once."""
    watching = Watching(4000, 4000, 0, debt=0.1)
    turns = watching.turns()
    turns.rests()  # away for 40 s: 0.1 s of debt, and as much for the search
    watching.attention.debt = -0.1
    watching.now, watching.seen = 41.0 + 0.5, (2000, 2000)
    watching.attention.debt = 0.2  # the search took 0.3 s

    turns.rests()

    assert watching.done[1:] == [f"leave for {(0.2 + 2 * (0.3 + 0.5 * SHARE)) / SHARE:.0f} s"]


def test_nothing_stands_in_the_way_of_a_program_that_is_left_alone() -> None:
    """Neither in the engine nor in the optimizers; when the time is over, passes are noted again from one on."""
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1)
    engine = vars(torch.autograd)["_engine_run_backward"]
    sanitizer = Sanitizer(lines=False, share=SHARE)

    def train(steps: int) -> None:
        for _ in range(steps):
            weight.square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()

    sanitizer.keep_ledger()
    sanitizer.start()
    try:
        train(10)
        sanitizer.leave(0.2)
        train(2)
        assert vars(torch.autograd)["_engine_run_backward"] is engine
        assert not optimizers._global_optimizer_post_hooks  # noqa: SLF001 # where they are
        assert not optimizers._global_optimizer_pre_hooks  # noqa: SLF001 # likewise
        assert sanitizer.ledger_so_far() is None
        until = time.monotonic() + 30
        while sanitizer.is_away and time.monotonic() < until:
            train(1)
        train(9)
        assert sanitizer.seen == (10, 10)
        assert sanitizer.ledger_so_far() is not None
    finally:
        sanitizer.close_ledger()
        sanitizer.stop()

    assert vars(torch.autograd)["_engine_run_backward"] is engine


JOB = """\
import torch
import gradsan
from gradsan.entry import turns
from gradsan.observe.sanitizer import Sanitizer

turns._NOTE, turns._LEAST = 1e-3, 0.005  # as if noting took a millisecond
leave, left = Sanitizer.leave, 0

def shortly(self, seconds):
    global left
    left += 1
    leave(self, 0.05)

Sanitizer.leave = shortly
gradsan.install(budget="0.5%", to=lambda found: print(found.code, flush=True))
first, second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
one, other = torch.optim.Adam(first.parameters(), 1e-3), torch.optim.SGD(second.parameters(), lr=0.01)
kept = []

def train():
    loss = second(first(torch.ones(8, 3))).square().mean()
    {adding}
    loss.backward()
    {stepping}
    {keeping}

number = 0
while left < 6:
    number += 1
    train()
{then}
print("over")
"""
PLAIN = {
    "adding": "one.zero_grad(); other.zero_grad()",
    "stepping": "one.step(); other.step()",
    "keeping": "kept.append(loss.item())",
    "then": "",
}


@pytest.mark.parametrize(
    ("changed", "printed"),
    [
        ({}, ["over"]),
        (
            {
                "adding": "pass",
                "stepping": "if number % 4 == 0: one.step(); one.zero_grad(); other.step(); other.zero_grad()",
            },
            ["over"],
        ),
        (
            {
                "adding": "one.zero_grad()",
                "stepping": "one.step()\n    if number % 30 == 0: other.step(); other.zero_grad()",
            },
            ["over"],
        ),
        ({"keeping": "kept.append(loss)"}, ["GS301", "over"]),
    ],
    ids=["right", "accumulates", "seldom", "leaks"],
)
def test_silent_problems_are_found_from_turn_to_turn(
    tmp_path: Path, changed: dict[str, str], printed: list[str]
) -> None:
    """Each search begins in the midst of the program, and takes nothing of that for a problem."""
    assert run(tmp_path, PLAIN | changed).stdout.splitlines() == printed


AWAY = """
leave(gradsan.entry.installing.current_session().sanitizer, 100)
train()
"""
EDITED = """
weight = torch.ones(3, requires_grad=True)
result = weight.exp()
result += 1
result.sum().backward()
"""
WALKED_AGAIN = """
loss = second(first(torch.ones(8, 3))).square().mean()
loss.backward()
loss.backward()
"""


def test_error_meanwhile_is_explained_as_far_as_its_graph_shows_it(tmp_path: Path) -> None:
    """A value that was changed is there to be seen; the pass that freed a graph is not, for it was not noted."""
    edited = run(tmp_path, PLAIN | {"then": AWAY + EDITED})
    walked_again = run(tmp_path, PLAIN | {"then": AWAY + WALKED_AGAIN})

    assert "GS202 inplace-edit" in edited.stderr
    assert "this is likely, not certain" in edited.stderr
    assert "Trying to backward through the graph a second time" in walked_again.stderr
    assert "GS1" not in walked_again.stderr


def run(tmp_path: Path, parts: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A job as a program of its own."""
    (tmp_path / "job.py").write_text(JOB.format(**parts))
    return subprocess.run(
        [sys.executable, "job.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
