"""Notes of optimizer steps: when, from where, and on which parameters."""

import sys
import threading
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, Protocol

from gradsan.facts.location import Frame
from gradsan.observe.attention import Attention
from gradsan.observe.callers import Apart, Callers, Place, Recent, Sure
from gradsan.observe.compilation import compiles_to_nothing
from gradsan.observe.guarding import is_ours
from gradsan.observe.log.journal import Page
from gradsan.observe.log.pen import Pen
from gradsan.observe.log.sites import SITE_MASK
from gradsan.observe.passes import Passes
from gradsan.observe.tape import READ, STEP, Record

_KEPT = 65_536  # notes; when there are more, the older half goes
_READ_AT_FIRST = 6  # steps of a line, before the log is trusted with it
# A note, in machine words: an optimizer's id, the op counter, how many passes had begun, the stack that was
# read at this line, and a place in the log (page 0: the stack was read for this very step).
_WORDS = 6


@dataclass(frozen=True)
class StepNote:
    """One `optimizer.step()`."""

    optimizer: int  # its id
    number: int  # the op counter when it was done
    passes: int  # how many passes had begun
    line: Frame | None  # of the user's, known at once; the calls that led to it have to be read from the log
    read_stack: Callable[[], tuple[Frame, ...]] = field(repr=False)

    @cached_property
    def stack(self) -> tuple[Frame, ...]:
        """The user's calls that led to it."""
        return self.read_stack()


class Watch(Protocol):
    """Whoever wants to know of steps."""

    def stepped(self, optimizer: Any) -> None:  # noqa: ANN401 # torch's class, which this file need not import
        """A step was done that is attended to."""

    def missed(self, error: BaseException) -> None:
        """An error of our own: a step is not noted."""


class Steps:
    """The notes of a process. Most steps are only put on the tape."""

    def __init__(
        self, callers: Callers, passes: Passes, attention: Attention, apart: Apart = lambda call: call()
    ) -> None:
        self._callers = callers
        self._passes = passes
        self._attention = attention
        self._tape = passes.tape
        self._apart = apart
        self._taken = array("Q")
        self.room = _KEPT * _WORDS * 8  # bytes
        self._forgotten: Counter[int] = Counter()  # by optimizer, the notes that are no longer kept
        self._sure: Sure[int] = callers.sure()
        self._recent = Recent(between=1)
        self._logged: dict[int, int] = {}  # by the number of a line in the log: the stack that was read there
        self._tape.readers[STEP] = self._take

    @property
    def count(self) -> int:
        """How many there were."""
        return len(self._notes) // _WORDS + self._forgotten.total()

    def noting(  # noqa: C901 # flat for speed
        self, pen: Pen, is_compiled: Callable[[], bool], watch: Watch
    ) -> Callable[[Any, Any, Any], None]:
        """What an optimizer is to call after each step."""
        at_hand = (self._tape, pen, self._sure, self._recent, self._passes.counter, threading.get_ident, id, len)

        @compiles_to_nothing
        def stepped(optimizer: Any, _args: Any, _named: Any) -> None:  # noqa: ANN401 # as torch calls it
            if is_compiled():  # such a step is not noted; that the parameters changed is seen all the same
                return
            try:
                tape, pen, sure, recent, counter, this_thread, identity, size = at_hand
                site = 0
                if size(tape) >= tape.limit:
                    tape.run_on()
                if size(tape) < tape.limit:
                    thread, words, _, _ = pen.open
                    if thread != (here := this_thread()):
                        thread, words = here, pen.switch()
                    if words and (site := words[-1] & SITE_MASK) in sure:
                        kind, page, events = STEP, words.ordinal, size(words)
                    else:
                        site, kind, page, events = recent(), STEP | READ, 0, 0
                if site:
                    tape.append((kind, counter(), site, page, events, thread, identity(optimizer)))
                elif self._attention.is_watching and self._noted_in_full(optimizer, pen.page()):
                    watch.stepped(optimizer)
            except BaseException as error:
                if not is_ours(error):
                    raise
                watch.missed(error)

        return stepped

    def since(self, passes: int) -> list[StepNote]:
        """The steps that were done when more than that many passes had begun."""
        begun = self._notes[2::_WORDS]  # other threads go on noting
        return [self._note(place) for place, each in enumerate(begun) if each > passes]

    def last_of(self, optimizer: int) -> StepNote | None:
        """The latest step of an optimizer."""
        who = self._notes[::_WORDS]
        place = next((place for place in range(len(who) - 1, -1, -1) if who[place] == optimizer), None)
        return None if place is None else self._note(place)

    def count_of(self, optimizer: int) -> int:
        """How many steps an optimizer has done."""
        return self._notes[::_WORDS].count(optimizer) + self._forgotten[optimizer]

    def numbers_of(self, optimizer: int) -> "array[int]":
        """The op counter at each step of an optimizer, as far back as is known."""
        notes = self._notes[:]
        return array("Q", compress(notes[1::_WORDS], map(optimizer.__eq__, notes[::_WORDS])))

    def count_since(self, number: int) -> int:
        """How many steps were done since the op counter stood there."""
        numbers = self._notes[1::_WORDS]
        older = next((place for place in range(len(numbers), 0, -1) if numbers[place - 1] < number), 0)
        return len(numbers) - older

    @property
    def _notes(self) -> "array[int]":
        """All that are still kept."""
        self._tape.take_in()
        return self._taken

    def _note(self, place: int) -> StepNote:
        optimizer, number, passes, read, page, events = self._taken[place * _WORDS : (place + 1) * _WORDS]

        stack = self._callers.numbered[read].stack

        def read_stack() -> tuple[Frame, ...]:
            return stack if not page else self._callers.stack_at(Place(page, events)) or stack[-1:]

        return StepNote(optimizer, number, passes, stack[-1] if stack else None, read_stack)

    def _noted_in_full(self, optimizer: Any, words: Page) -> bool:  # noqa: ANN401 # as above
        """Note one of a line that is new, or where the log is not sure; answers whether it is attended to."""
        tape, caller = self._tape, self._callers.of(sys._getframe(2))  # noqa: SLF001 # the only way to a frame
        is_attended = self._attention.is_on
        tape.append((READ | STEP, self._passes.counter(), caller.number, 0, 0, _this_thread(), _id(optimizer)))
        tape.take_in()
        caller.site = times = 1 + (caller.site or 0)
        if times == _READ_AT_FIRST and self._apart(lambda: self._callers.is_sure(caller, words)):
            site = words[-1] & SITE_MASK
            self._logged[site] = self._sure[site] = caller.number
        elif times >= _READ_AT_FIRST:
            self._recent.add(caller)
        tape.run_on()
        return is_attended

    def _take(self, record: Record) -> None:
        """One from the tape."""
        kind, number, site, page, events, _, optimizer = record
        read = site if kind & READ else self._logged[site]
        self._taken.extend((optimizer, number, self._passes.begun, read, page, events))
        if len(self._taken) * 8 > self.room:
            half = len(self._taken) // _WORDS // 2 * _WORDS
            self._forgotten.update(self._taken[:half:_WORDS])
            del self._taken[:half]
        self._attention.step_goes_by()


_id, _this_thread = id, threading.get_ident  # the program may put others in their places
