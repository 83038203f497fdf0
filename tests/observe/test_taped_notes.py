"""Passes and steps that only went on the tape are known as well as those that were noted in full."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from gradsan.explanation.explainer import Explainer
from gradsan.observe import passes as passes_module
from gradsan.observe.sanitizer import Sanitizer
from gradsan.observe.tape import PASS, STEP, Record, Tape
from observe.failing_programs import diagnosis_of, line_of, marked

_TIMES = 24  # more than are noted in full at first


class Watched:
    """A sanitizer at work, with what it keeps."""

    def __init__(self, *, lines: bool) -> None:
        self.sanitizer = Sanitizer(lines=lines, explain=Explainer().explain)
        self.sanitizer.start()
        process = self.sanitizer.process
        assert process is not None
        self.passes, self.steps, self.tape = process.passes, process.steps, process.passes.tape


@contextmanager
def watched(*, lines: bool = True) -> Iterator[Watched]:
    """From the start to the end."""
    found = Watched(lines=lines)
    try:
        yield found
    finally:
        found.sanitizer.stop()


@pytest.fixture(autouse=True)
def _no_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that is looked at is noted in full, and when that is depends on the speed of the machine."""
    monkeypatch.setattr(passes_module, "_SHARE", 1e-9)
    monkeypatch.setattr(passes_module, "_SHARE_OF_NEW", 1e-9)


def test_what_is_taken_in_has_gone_by() -> None:
    """Whoever takes the tape in, no more records go by than were to."""
    tape = Tape()
    tape.readers[STEP] = lambda _: None
    tape.rooms["anyone"] = lambda: 3
    tape.run_on()
    tape.append((STEP, 0, 0, 0, 0, 0, 0))

    tape.take_in()

    assert tape.limit == 2


@pytest.mark.parametrize("lines", [True, False])
def test_what_went_on_the_tape_is_known_in_its_order(lines: bool) -> None:  # noqa: FBT001 # a parameter of the test
    """What each was, where it stood among all, and the op counter at that moment."""
    x = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([x], 0.1)

    def train() -> int:
        most = 0
        for _ in range(_TIMES):
            loss = (x * 2).sum()
            loss.backward(retain_graph=True)
            (x * 3).sum().backward()
            torch.autograd.grad((x * 4).sum(), x)
            optimizer.step()
            most = max(most, len(here.tape))
        return most

    with watched(lines=lines) as here:
        # A thread, because on 3.11 the functions that are running now are not recorded.
        taped: list[int] = []
        thread = threading.Thread(target=lambda: taped.append(train()))
        thread.start()
        thread.join()
        assert taped[0] > 1
        notes = here.passes.all()
        assert here.passes.count == 3 * _TIMES
        assert [each.index for each in notes] == list(range(3 * _TIMES))
        assert [each.retains for each in notes] == [True, False, False] * _TIMES
        assert [each.accumulates for each in notes] == [True, True, False] * _TIMES
        assert [each.step for each in notes] == [step for step in range(1, _TIMES + 1) for _ in range(3)]
        made = [later.begin - earlier.begin for earlier, later in pairwise(notes)]
        assert made == [2, 2, 2] * (_TIMES - 1) + [2, 2]
        assert all(each.stack[-1].function.endswith("train") for each in notes)
        assert [each.passes for each in here.steps.since(0)] == [3 * step for step in range(1, _TIMES + 1)]
        assert here.steps.count_of(id(optimizer)) == _TIMES


def test_pass_inside_of_one_on_the_tape_is_known_to_be_inside() -> None:
    """As in a hook that differentiates something else."""
    x = torch.ones(3, requires_grad=True)

    def inner(_: torch.Tensor) -> None:
        with torch.enable_grad():
            (torch.ones(2, requires_grad=True) * 2).sum().backward()

    def train() -> None:
        for _ in range(_TIMES):
            y = x * 2
            y.register_hook(inner)
            y.sum().backward()

    with watched() as here:
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
        notes = here.passes.all()
        assert [each.outer for each in notes] == [each for order in range(0, 2 * _TIMES, 2) for each in (None, order)]


def test_pass_that_a_checkpoint_runs_belongs_to_the_step_of_the_line_that_asked() -> None:
    """No line of the program's stands between the two."""
    x = torch.ones(3, requires_grad=True)

    with watched() as here:
        for _ in range(_TIMES):
            checkpoint(torch.exp, x, use_reentrant=True).sum().backward()
        notes = here.passes.all()

    assert [each.outer is None for each in notes] == _TIMES * [True, False]
    assert [each.step for each in notes] == [step for step in range(1, _TIMES + 1) for _ in range(2)]


def test_passes_of_two_threads_are_known_in_their_order() -> None:
    """Though each has a log of its own."""
    turns = threading.Barrier(2)
    order: list[int] = []

    def train(first: bool) -> None:  # noqa: FBT001 # who begins
        x = torch.ones(3, requires_grad=True)
        for turn in range(2 * _TIMES):
            turns.wait()
            if (turn % 4 < 2) == first:  # two in a row
                order.append(threading.get_ident())
                (x * 2).sum().backward()
            turns.wait()

    with watched() as here:
        threads = [threading.Thread(target=train, args=(first,)) for first in (True, False)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert [each.thread for each in here.passes.all()] == order


def test_whoever_asks_waits_for_what_another_thread_is_handing_over() -> None:
    """Else it would be reported all passes but its own."""
    tape, taken, begun, go_on = Tape(), list[int](), threading.Event(), threading.Event()

    def take(record: Record) -> None:
        begun.set()
        go_on.wait(10)
        taken.append(record[5])

    tape.readers = {PASS: take, STEP: take}
    tape.append((PASS, 0, 0, 0, 0, 7, 0))
    slow = threading.Thread(target=tape.take_in)
    slow.start()
    begun.wait(10)
    threading.Timer(0.05, go_on.set).start()
    tape.take_in()
    known = list(taken)
    slow.join()

    assert known == [7]


def test_lock_that_a_fork_left_held_is_waited_for_once() -> None:
    """The thread that would give it back is not there in a child."""
    tape, taken = Tape(), list[int]()
    tape.readers = {PASS: lambda record: taken.append(record[5])}
    tape._lock.acquire()  # noqa: SLF001 # as a fork leaves it
    for thread in range(3):
        tape.append((PASS, 0, 0, 0, 0, thread, 0))
        tape.take_in()
        assert not tape._lock.locked()  # noqa: SLF001 # as above

    assert taken == [0, 1, 2]


def test_error_of_a_pass_on_the_tape_is_explained() -> None:
    """Also after many that went well, and without lines."""
    x = torch.ones(3, requires_grad=True)

    def train(held: torch.Tensor | None = None) -> None:
        for step in range(_TIMES):
            loss = (x * x).sum() if held is None or step < _TIMES - 1 else held
            held = loss
            loss.backward()

    for lines in (True, False):
        with watched(lines=lines) as here:
            raised: list[str] = []

            def attempt() -> None:
                try:
                    train()
                except RuntimeError as error:
                    raised.append(" ".join("\n".join(error.__notes__).split()))  # noqa: B023 # called at once

            thread = threading.Thread(target=attempt)
            thread.start()
            thread.join()
            assert "loss.backward()" in raised[0]
            assert f"in step {_TIMES}" in raised[0]
            assert here.passes.all()[-1].failed


def test_latest_pass_on_the_tape_is_of_the_thread_that_asks() -> None:
    """Ops are counted by each thread for itself."""
    tape = Tape()
    assert tape.latest == 0
    tape.thread = threading.get_ident()
    tape.append((PASS, 7, 0, 0, 0, tape.thread, 0))
    tape += [(STEP, 9, 0, 0, 0, tape.thread, 1)] * 2

    others: list[int] = []
    thread = threading.Thread(target=lambda: others.append(tape.latest))
    thread.start()
    thread.join()

    assert tape.latest == 7
    assert others == [0]


_WINDOWS = """
def fit(net, initial):
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(40):
        opt.zero_grad()
        loss = (net(torch.ones(5, 2)) - initial).square().mean()
        loss.backward()  # freed
        opt.step()

def march():
    initial = torch.zeros(5, 2)
    for _ in range(2):
        net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
        fit(net, initial)
        initial = net(torch.ones(5, 2)).tanh()

march()
"""


def test_pass_that_nobody_looked_at_is_likely_to_have_freed_what_was_there(tmp_path: Path) -> None:
    """PyTorch says that something was freed: it is explained, however unlike the passes before it that one was."""
    found = diagnosis_of(tmp_path, _WINDOWS)

    assert (found.code, found.confidence) == ("GS104", "likely")
    assert found.culprit is not None
    assert found.culprit.name == "initial"
    assert line_of(found.freed) == marked(_WINDOWS, "freed")
