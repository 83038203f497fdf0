"""Notes of optimizer steps: when, from where, and on which parameters."""

import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from gradsan.lifecycle.location import Frame
from gradsan.observe.living import instances
from gradsan.observe.ownership import Ownership

_KEPT = 4096  # notes; the oldest go first


@dataclass(frozen=True, slots=True)
class StepNote:
    """One `optimizer.step()`."""

    optimizer: int  # its id
    thread: int
    number: int  # the op counter when it was done
    passes: int  # how many passes had begun
    stack: tuple[Frame, ...]


class Steps:
    """The notes of a process."""

    def __init__(self, ownership: Ownership, op_counter: Callable[[], int], passes: Callable[[], int]) -> None:
        self._ownership = ownership
        self._counter = op_counter
        self._passes = passes
        self._notes: deque[StepNote] = deque(maxlen=_KEPT)
        self._known: weakref.WeakSet[Any] = weakref.WeakSet()
        self.count = 0

    def note(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """An optimizer has made a step."""
        self.count += 1
        self._known.add(optimizer)
        stack = tuple(_stack(sys._getframe(1), self._ownership))  # noqa: SLF001 # the only way to a frame
        self._notes.append(StepNote(id(optimizer), threading.get_ident(), self._counter(), self._passes(), stack))

    def since(self, passes: int) -> list[StepNote]:
        """The steps that were made when more than that many passes had begun."""
        return [each for each in list(self._notes) if each.passes > passes]  # other threads go on noting

    def last_of(self, optimizer: int) -> StepNote | None:
        """The latest step of an optimizer."""
        return next((each for each in reversed(list(self._notes)) if each.optimizer == optimizer), None)

    def owners(self) -> dict[int, set[int]]:
        """For the id of every parameter, the ids of the optimizers that own it; also of those that never stepped."""
        from torch.optim import Optimizer

        found = {id(each): each for each in self._known}
        # By `type()`: `isinstance` asks objects for their class, and proxies and lazy modules answer by doing things.
        found |= {id(each): each for each in instances(Optimizer)}
        owners: dict[int, set[int]] = {}
        for identity, optimizer in found.items():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    owners.setdefault(id(parameter), set()).add(identity)
        return owners


def _stack(frame: FrameType | None, ownership: Ownership) -> Iterator[Frame]:
    calls = []
    while frame is not None:
        if ownership.owns(frame.f_code.co_filename):
            calls.append(Frame(frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_qualname))
        frame = frame.f_back
    return reversed(calls)
