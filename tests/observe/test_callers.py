"""The stacks of passes and steps, as the log tells them, are those that the interpreter has."""

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import create_autospec

import pytest
import torch

from gradsan.facts.location import Frame
from gradsan.observe import passes as passes_module
from gradsan.observe.callers import UNREAD, Callers
from gradsan.observe.log.frames import frames_out
from gradsan.observe.sanitizer import Sanitizer

_TIMES = 12  # more than are read before the log is trusted


class Truth:
    """The user's calls at every pass and step, read from the interpreter at that moment."""

    def __init__(self, owns: Callable[[str], bool]) -> None:
        self._owns = owns
        self.passes: list[tuple[Frame, ...]] = []
        self.steps: list[tuple[Frame, ...]] = []

    def read(self) -> tuple[Frame, ...]:
        """The calls that led to the one that led here."""
        return tuple(
            Frame(each.f_code.co_filename, each.f_lineno or 0, each.f_code.co_qualname)
            for each in reversed(frames_out(sys._getframe(2)))  # noqa: SLF001 # the only way to a frame
            if self._owns(each.f_code.co_filename) and each.f_code.co_name != "<listcomp>"  # one line with its function
        )


def program(x: torch.Tensor, optimizer: Any) -> None:  # noqa: ANN401, C901 # torch's types are too narrow; a list
    """Asks for passes and steps in all the ways in which stacks come about."""

    def loss() -> torch.Tensor:
        return (x * 2).sum()

    def once(value: torch.Tensor) -> torch.Tensor:
        value.backward()
        optimizer.step()
        return value

    def deep(depth: int) -> None:
        if depth:
            deep(depth - 1)
        else:
            once(loss())

    def rounds() -> Iterator[None]:
        for _ in range(_TIMES):
            result = loss()
            result.backward()
            yield

    def caught() -> None:
        try:
            once(loss())
            raise ValueError  # an exit that is no return
        finally:
            loss().backward()

    for _ in range(_TIMES):
        once(loss())
    for each in range(_TIMES):
        once(loss())
        deep(each % 3)
    for _ in rounds():
        optimizer.step()
    for _ in range(_TIMES):
        try:
            caught()
        except ValueError:
            loss().backward()
    [once(loss()) for _ in range(_TIMES)]
    optimizer.step(closure=lambda: once(loss()))


@pytest.mark.parametrize("lines", [True, False])
def test_stacks_reported_later_are_those_of_the_interpreter(
    lines: bool,  # noqa: FBT001 # a parameter of the test
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For each pass and step that is still known; many of them were told by the log, or known again."""
    monkeypatch.setattr(passes_module, "_SHARE", 1e-9)  # a look at a pass reads its stack
    monkeypatch.setattr(passes_module, "_SHARE_OF_NEW", 1e-9)
    sanitizer = Sanitizer(lines=lines)
    truth = Truth(sanitizer.recorder.ownership.owns)
    engine = vars(torch.autograd)["_engine_run_backward"]

    def watched(*args: Any, **named: Any) -> Any:  # noqa: ANN401 # as the engine's entry has it
        truth.passes.append(truth.read())
        return engine(*args, **named)

    x = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([x], 0.1)
    monkeypatch.setattr(torch.autograd, "_engine_run_backward", watched)
    sanitizer.start()
    # Of the standard library: a function of this file would be recorded itself.
    reading = create_autospec(Callers.of, side_effect=Callers.of)
    monkeypatch.setattr(Callers, "of", reading)
    optimizer.register_step_post_hook(lambda *_: truth.steps.append(truth.read()))
    try:
        # A thread, because on 3.11 the functions that are running now are not recorded.
        thread = threading.Thread(target=program, args=(x, optimizer))
        thread.start()
        thread.join()
        assert sanitizer.process is not None
        passes, steps = sanitizer.process.passes, sanitizer.process.steps
        notes = passes.all()
        assert [each.stack for each in notes] == [truth.passes[each.index] for each in notes]
        assert [each.stack for each in steps.since(0)] == truth.steps
        unread = [each for site in passes._sites.values() for each in site.last if each.caller is UNREAD]  # noqa: SLF001 # the notes themselves
        assert (len(unread) > _TIMES) == lines
        assert reading.call_count < len(truth.passes) + len(truth.steps) - 2 * _TIMES
    finally:
        sanitizer.stop()


def test_log_that_ended_is_not_asked_where_the_program_stands() -> None:
    """What was written last says nothing about what came after."""
    sanitizer = Sanitizer()
    x = torch.ones(3, requires_grad=True)

    def early() -> None:
        for _ in range(_TIMES):
            x.sum().backward()

    def late() -> None:
        sanitizer.recorder.stop()
        x.sum().backward()

    def both() -> None:
        early()
        late()

    sanitizer.start()
    try:
        thread = threading.Thread(target=both)
        thread.start()
        thread.join()
        assert sanitizer.process is not None
        assert sanitizer.process.passes.all()[-1].stack[-1].function.endswith("late")
    finally:
        sanitizer.stop()
