"""Notes of optimizer steps: when, from where, and on which parameters."""

import sys
import threading
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gradsan.lifecycle.location import Frame
from gradsan.observe.callers import Apart, Caller, Callers, Place, Sure
from gradsan.observe.living import instances
from gradsan.observe.log.journal import Page
from gradsan.observe.log.pen import Pen
from gradsan.observe.log.sites import SITE_MASK
from gradsan.observe.passes import Passes

_KEPT = 65_536  # notes; when there are more, the older half goes
_READ_AT_MOST = 4096  # different stacks
_READ_AT_FIRST = 6  # steps of a line, before the log is trusted with it
# A note, in machine words: an optimizer's id, the thread, the op counter, how many passes had begun, the stack that was
# read at this line, and a place in the log (page 0: the stack was read for this very step).
_WORDS = 7


@dataclass(frozen=True)
class StepNote:
    """One `optimizer.step()`."""

    optimizer: int  # its id
    thread: int
    number: int  # the op counter when it was done
    passes: int  # how many passes had begun
    read_stack: Callable[[], tuple[Frame, ...]] = field(repr=False)

    @cached_property
    def stack(self) -> tuple[Frame, ...]:
        """The user's calls that led to it."""
        return self.read_stack()


@dataclass(slots=True)
class _Read:
    """A stack that was read."""

    place: int  # among those that were
    times: int = 0


class Steps:
    """The notes of a process."""

    def __init__(self, callers: Callers, passes: Passes, apart: Apart = lambda call: call()) -> None:
        self._callers = callers
        self._passes = passes
        self._apart = apart
        self._notes = array("Q")
        self._forgotten: Counter[int] = Counter()  # by optimizer, the notes that are no longer kept
        self._sure: Sure[int] = callers.sure()
        self._read = [Caller((), ())]  # the first stands for what is too much to keep

    @property
    def count(self) -> int:
        """How many there were."""
        return len(self._notes) // _WORDS + self._forgotten.total()

    def noting(self, pen: Pen) -> Callable[[Any], None]:
        """A function that notes a step, flat for speed: it is called once a step of every program."""
        notes, sure, counter, passes, read = self._notes, self._sure, self._passes.counter, self._passes, self._reading
        extend, this_thread, identity, size = notes.extend, threading.get_ident, id, len
        most = _KEPT * _WORDS

        def note(optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
            thread = this_thread()
            writer, words = pen.open
            if writer != thread:
                words = pen.switch()
            stack = sure.get(words[-1] & SITE_MASK) if words else None
            if stack is None:
                extend((identity(optimizer), thread, counter(), passes.count, read(words), 0, 0))
            else:
                extend((identity(optimizer), thread, counter(), passes.count, stack, words.ordinal, size(words)))
            if size(notes) > most:
                self._forget()

        return note

    def since(self, passes: int) -> list[StepNote]:
        """The steps that were made when more than that many passes had begun."""
        begun = self._notes[3::_WORDS]  # other threads go on noting
        return [self._note(place) for place, each in enumerate(begun) if each > passes]

    def last_of(self, optimizer: int) -> StepNote | None:
        """The latest step of an optimizer."""
        who = self._notes[::_WORDS]
        place = next((place for place in range(len(who) - 1, -1, -1) if who[place] == optimizer), None)
        return None if place is None else self._note(place)

    def count_of(self, optimizer: int) -> int:
        """How many steps an optimizer has made."""
        return self._notes[::_WORDS].count(optimizer) + self._forgotten[optimizer]

    def numbers_of(self, optimizer: int) -> "array[int]":
        """The op counter at each step of an optimizer, as far back as is known."""
        notes = self._notes[:]
        pairs = zip(notes[::_WORDS], notes[2::_WORDS], strict=True)
        return array("Q", [number for each, number in pairs if each == optimizer])

    def made_since(self, number: int) -> int:
        """How many steps were made since the op counter stood there."""
        numbers = self._notes[2::_WORDS]
        older = next((place for place in range(len(numbers), 0, -1) if numbers[place - 1] < number), 0)
        return len(numbers) - older

    def owners(self) -> dict[int, set[int]]:
        """For the id of every parameter, the ids of the optimizers that own it; also of those that never stepped."""
        from torch.optim import Optimizer

        owners: dict[int, set[int]] = {}
        # By `type()`: `isinstance` asks objects for their class, and proxies and lazy modules answer by doing things.
        for optimizer in instances(Optimizer):
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    owners.setdefault(id(parameter), set()).add(id(optimizer))
        return owners

    def _note(self, place: int) -> StepNote:
        optimizer, thread, number, passes, read, page, events = self._notes[place * _WORDS : (place + 1) * _WORDS]

        def read_stack() -> tuple[Frame, ...]:
            stack = self._read[read].stack
            return stack if not page else self._callers.stack_at(Place(page, events)) or stack[-1:]

        return StepNote(optimizer, thread, number, passes, read_stack)

    def _reading(self, words: Page) -> int:
        """Read the stack: which of those that were read it is."""
        caller = self._callers.of(sys._getframe(1))  # noqa: SLF001 # the only way to a frame
        read = caller.site
        if read is None:
            is_full = len(self._read) >= _READ_AT_MOST
            read = caller.site = _Read(0 if is_full else len(self._read))
            self._read += [] if is_full else [caller]
        read.times += 1
        if read.times == _READ_AT_FIRST and self._apart(lambda: self._callers.is_sure(caller, words)):
            self._sure[words[-1] & SITE_MASK] = read.place
        return int(read.place)

    def _forget(self) -> None:
        half = _KEPT // 2 * _WORDS
        self._forgotten.update(self._notes[:half:_WORDS])
        del self._notes[:half]
