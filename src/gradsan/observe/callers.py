"""Who called: the user's part of a call stack, told from the line log where that is sure to know it.

A program asks for its passes and steps from few lines, again and again, and reading a stack each time would cost more
than all else that is noted. Where lines are recorded, the log holds the stack already: it is enough to note how far the
log was written. That is done once the log and the interpreter have been seen to agree on a line; everywhere else the
stack is read, and known again by the user's frames in it.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, Generic, NamedTuple, TypeVar

from gradsan.facts.location import Frame
from gradsan.observe.log.frames import frames_out
from gradsan.observe.log.journal import Page
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.log.sites import MODULE, SITE_MASK

T = TypeVar("T")

Calls = tuple[tuple[CodeType, int], ...]  # code and line, outermost first

Apart = Callable[[Callable[[], Any]], Any]

# Calls of their own on 3.11 only; the function that they stand in is at their line.
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
_KNOWN_AT_MOST = 1024  # stacks; recursion can make any number of them
_NUMBERED_AT_MOST = 4096
_RECENT = 16
_id, _getframe = id, sys._getframe  # noqa: SLF001 # the program may put another in its place; the only way to a frame


@dataclass(slots=True, eq=False)
class Caller:
    """A call stack that was read."""

    calls: Calls  # the user's
    codes: tuple[CodeType, ...] = field(repr=False)  # of all its frames: held, so that their addresses stay their own
    # By which it is known again: the user's frames, innermost first, each with how many lie within it, and all that
    # lie around the outermost of them. None: that is a module, which is run once, and from one place.
    within: tuple[tuple[int, CodeType, int], ...] = ()
    around: tuple[tuple[CodeType, int], ...] | None = ()
    number: int = 0  # among those that are numbered; 0: none
    site: Any = None  # what whoever asks keeps about the innermost line

    @property
    def line(self) -> tuple[int, int] | None:
        """The innermost line of the user's, to be looked up by."""
        return (id(self.calls[-1][0]), self.calls[-1][1]) if self.calls else None

    @property
    def stack(self) -> tuple[Frame, ...]:
        """The user's calls in names."""
        return tuple(Frame(code.co_filename, line, code.co_qualname) for code, line in self.calls)


UNREAD = Caller((), ())  # in place of one that only the log knows


class Place(NamedTuple):
    """A moment of the log."""

    page: int
    events: int  # how many were written on that page


class Sure(dict[int, T], Generic[T]):
    """By the number of a line in the log: what is kept of lines where the log is sure to know the stack."""


class Recent:
    """Callers of late, each known again by the user's frames alone: to step over a frame costs less than to see it."""

    def __init__(self, between: int) -> None:
        self._callers: tuple[Caller, ...] = ()
        self._first = between + 1  # how many frames up the caller is, from where it is looked for

    def __call__(self) -> int:
        """The number of the one that called, with so many frames between it and this one; 0: it is none of them."""
        first = self._first
        for caller in self._callers:
            frame: FrameType | None = None
            try:
                for depth, code, instruction in caller.within:
                    frame = _getframe(first + depth)
                    if frame.f_code is not code or frame.f_lasti != instruction:
                        break
                else:
                    if caller.around is None:
                        return caller.number
                    around = frame and frame.f_back
                    for code, instruction in caller.around:
                        if around is None or around.f_code is not code or around.f_lasti != instruction:
                            break
                        around = around.f_back
                    else:
                        if around is None:
                            return caller.number
            except ValueError:  # the stack is not that deep
                pass
        return 0

    def __iter__(self) -> Iterator[Caller]:
        return iter(self._callers)

    def add(self, caller: Caller) -> None:
        """Know this one again, if it can be."""
        if caller.within and caller.number and caller not in self._callers:
            self._callers = (caller, *self._callers[: _RECENT - 1])

    def clear(self) -> None:
        """Know none again."""
        self._callers = ()

    def remove(self, caller: Caller) -> None:
        """Know it no longer."""
        self._callers = tuple(each for each in self._callers if each is not caller)


class Callers:
    """The call stacks of a process.

    `apart` calls a function in such a way that nothing of what it does is compiled with the program.
    """

    def __init__(self, recorder: LineRecorder, apart: Apart = lambda call: call()) -> None:
        self._recorder = recorder
        self._apart = apart
        self._known: dict[tuple[int, ...], Caller] = {}
        self.numbered = [UNREAD]

    @property
    def are_recorded(self) -> bool:
        """Whether the log goes on."""
        return self._recorder.recording

    def sure(self) -> Sure[Any]:
        """To be filled by `is_sure`; it is empty again when recording ends."""
        lines: Sure[Any] = Sure()
        self._recorder.when_stopped.append(lines.clear)
        return lines

    def of(self, frame: FrameType | None) -> Caller:
        """The caller that this frame is the innermost of, as the interpreter has it."""
        addresses: list[int] = []
        add, each = addresses.append, frame
        while each is not None:
            add(_id(each.f_code))
            add(each.f_lasti)
            each = each.f_back
        key = tuple(addresses)
        return self._known.get(key) or self._apart(lambda: self._meet(key, frame))

    def is_sure(self, caller: Caller, words: Page) -> bool:
        """Whether the log ends with a line of the user's, and has the stack that was read just now."""
        recorder = self._recorder
        if not recorder.recording or not words or not recorder.is_at_line(words[-1] & SITE_MASK):
            return False
        return recorder.stack_at(words.ordinal, len(words)) == caller.stack

    def stack_at(self, place: Place) -> tuple[Frame, ...] | None:
        """The user's calls at a moment of the log; None: it is no longer kept."""
        return self._recorder.stack_at(*place)

    def _meet(self, key: tuple[int, ...], frame: FrameType | None) -> Caller:
        frames = frames_out(frame)
        calls: list[tuple[CodeType, int]] = []
        within: list[tuple[int, CodeType, int]] = []
        for depth, each in enumerate(frames):
            if self._recorder.ownership.owns(each.f_code.co_filename):
                within.append((depth, each.f_code, each.f_lasti))
        for depth, _, _ in reversed(within):
            code, line = frames[depth].f_code, frames[depth].f_lineno or 0
            if calls and code.co_name in _COMPREHENSIONS:
                code = calls.pop()[0]
            calls.append((code, line))
        is_module = bool(within) and within[-1][1].co_name == MODULE
        around = frames[within[-1][0] + 1 :] if within else frames
        caller = Caller(
            tuple(calls),
            tuple({each.f_code for each in frames}),
            tuple(within),
            None if is_module else tuple((each.f_code, each.f_lasti) for each in around),
        )
        if len(self.numbered) < _NUMBERED_AT_MOST:
            caller.number = len(self.numbered)
            self.numbered.append(caller)
        if len(self._known) >= _KNOWN_AT_MOST:
            self._known.clear()
        self._known[key] = caller
        return caller
