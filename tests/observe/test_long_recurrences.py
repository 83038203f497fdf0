"""A recurrence of many steps: what explaining it takes, and what a graph that deep does to the process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradsan.observe import graph
from gradsan.observe.failure import pass_graph
from gradsan.observe.log import journal, lines
from observe.failing_programs import diagnosis_of
from warm import Warm

CARRIED = """
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.taken, self.kept = nn.Linear(2, 3), nn.Linear(3, 3)

    def forward(self, x, h):
        return torch.tanh(self.taken(x) + self.kept(h))

cell, h = Cell(), torch.zeros(1, 3)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for _ in range(2):
    for x in torch.ones({steps}, 1, 2):
        h = cell(x, h)
    opt.zero_grad()
    h.sum().backward()
    opt.step()
"""

DEEP = """
import threading, torch

class Own(torch.autograd.Function):
    metadata = {}  # as ops call a thing of theirs

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        return gradient

def train():
    weight = torch.ones(2, requires_grad=True)
    for op in (torch.tanh, Own.apply):
        h = weight * 1
        for _ in range(8_000):
            h = op(h)
        h.sum().backward()
        try:
            h.sum().backward()
        except RuntimeError as error:
            print("GS101" in error.__notes__[0])
        del h
    print(Own.metadata)

threading.stack_size(1 << 20)  # the usual one has room for 35,000 ops
thread = threading.Thread(target=train)
thread.start()
thread.join()
"""


def test_the_log_is_read_a_fixed_number_of_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events of the log that explaining reads grow as the recurrence does, and no faster."""
    short, long = (_events_read(tmp_path / str(steps), steps, monkeypatch) for steps in (60, 240))

    assert short > 0
    assert long <= 4 * short


def test_the_graph_is_walked_a_fixed_number_of_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ops that explaining walks grow as the recurrence does, and no faster."""
    short, long = (_ops_walked(tmp_path / str(steps), steps, monkeypatch) for steps in (60, 240))

    assert short > 0
    assert long <= 5 * short


def test_a_graph_as_deep_as_this_does_not_kill_the_program(tmp_path: Path) -> None:
    """What Python has looked at is destroyed by recursion, and gradsan looks at every op of the first passes."""
    script = tmp_path / "deep.py"
    script.write_text(DEEP, encoding="utf-8")

    ended = Warm().run(script, "run")

    assert (ended.status, ended.stdout) == (0, "True\nTrue\n{}\n")


def _ops_walked(folder: Path, steps: int, monkeypatch: pytest.MonkeyPatch) -> int:
    walked: list[int] = []

    def counting(*args: Any) -> dict[Any, None]:  # noqa: ANN401 # as the walk is called
        found = graph.walked(*args)
        walked.append(len(found))
        return found

    folder.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(pass_graph, "walked", counting)
        found = diagnosis_of(folder, CARRIED.format(steps=steps))
    assert found.code == "GS103"
    return sum(walked)


def _events_read(folder: Path, steps: int, monkeypatch: pytest.MonkeyPatch) -> int:
    read = 0

    def counting(original: Any) -> Any:  # noqa: ANN401 # as the two readers of the log are
        def counted(*args: Any) -> Iterator[Any]:  # noqa: ANN401 # as above
            nonlocal read
            for each in original(*args):
                read += 1
                yield each

        return counted

    folder.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(lines.Lines, "_events", counting(lines.Lines._events))  # noqa: SLF001 # where it is read
        spans_of = counting(journal.spans_of)
        patched.setattr(journal, "spans_of", spans_of)
        patched.setattr(lines, "spans_of", spans_of)
        found = diagnosis_of(folder, CARRIED.format(steps=steps))
    assert found.code == "GS103"
    return read
