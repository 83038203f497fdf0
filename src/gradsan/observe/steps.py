"""Notes of optimizer steps: when, from where, and on which parameters."""

import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from gradsan.lifecycle.location import Frame
from gradsan.observe.callers import Caller, Callers
from gradsan.observe.living import instances
from gradsan.observe.passes import Passes

_KEPT = 4096  # notes; the oldest go first


class StepNote(NamedTuple):
    """One `optimizer.step()`."""

    optimizer: int  # its id
    thread: int
    number: int  # the op counter when it was done
    passes: int  # how many passes had begun
    caller: Caller

    @property
    def stack(self) -> tuple[Frame, ...]:
        """The user's calls that led to it."""
        return self.caller.stack


class Steps:
    """The notes of a process."""

    def __init__(self, callers: Callers, op_counter: Callable[[], int], passes: Passes) -> None:
        self._callers = callers
        self._counter = op_counter
        self._passes = passes
        self._notes: deque[StepNote] = deque(maxlen=_KEPT)
        self._known: dict[int, weakref.ref[Any]] = {}
        self.count = 0

    def note(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """An optimizer has made a step."""
        self.count += 1
        identity = id(optimizer)
        known = self._known.get(identity)
        if known is None or known() is not optimizer:
            self._known[identity] = weakref.ref(optimizer)
        caller = self._callers.of(_getframe(1))
        note = (identity, _this_thread(), self._counter(), self._passes.count, caller)
        self._notes.append(_new_tuple(StepNote, note))

    def since(self, passes: int) -> list[StepNote]:
        """The steps that were made when more than that many passes had begun."""
        return [each for each in list(self._notes) if each.passes > passes]  # other threads go on noting

    def last_of(self, optimizer: int) -> StepNote | None:
        """The latest step of an optimizer."""
        return next((each for each in reversed(list(self._notes)) if each.optimizer == optimizer), None)

    def owners(self) -> dict[int, set[int]]:
        """For the id of every parameter, the ids of the optimizers that own it; also of those that never stepped."""
        from torch.optim import Optimizer

        found = {identity: each for identity, known in list(self._known.items()) if (each := known()) is not None}
        # By `type()`: `isinstance` asks objects for their class, and proxies and lazy modules answer by doing things.
        found |= {id(each): each for each in instances(Optimizer)}
        owners: dict[int, set[int]] = {}
        for identity, optimizer in found.items():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    owners.setdefault(id(parameter), set()).add(identity)
        return owners


_getframe = sys._getframe  # noqa: SLF001 # the only way to a frame
_this_thread = threading.get_ident
_new_tuple = tuple.__new__  # past the checks of a named tuple's own constructor
