"""Who called: the user's part of a call stack, known again by the addresses in it.

A program asks for its passes and steps from few places, again and again. So only the first time is a stack read with
its names and lines; after that it is found by its code objects and the offsets in them, in about a microsecond.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from gradsan.lifecycle.location import Frame
from gradsan.observe.log.frames import frames_out
from gradsan.observe.ownership import Ownership

Calls = tuple[tuple[CodeType, int], ...]  # code and line, outermost first

Apart = Callable[[Callable[[], Any]], Any]

_KNOWN_AT_MOST = 1024  # stacks; recursion can make any number of them
_id = id  # the program may put another in its place


@dataclass(slots=True)
class Caller:
    """A call stack that was met."""

    calls: Calls  # the user's
    codes: tuple[CodeType, ...] = field(repr=False)  # of all its frames: held, so that their addresses stay their own
    site: Any = None  # what whoever asks keeps about the innermost line

    @property
    def line(self) -> tuple[int, int] | None:
        """The innermost line of the user's, to be looked up by."""
        return (id(self.calls[-1][0]), self.calls[-1][1]) if self.calls else None

    @property
    def stack(self) -> tuple[Frame, ...]:
        """The user's calls in names."""
        return tuple(Frame(code.co_filename, line, code.co_qualname) for code, line in self.calls)


class Callers:
    """The call stacks that were met.

    `apart` calls a function in such a way that nothing of what it does is compiled with the program.
    """

    def __init__(self, ownership: Ownership, apart: Apart = lambda call: call()) -> None:
        self._ownership = ownership
        self._apart = apart
        self._known: dict[tuple[int, ...], Caller] = {}

    def of(self, frame: FrameType | None) -> Caller:
        """The caller that this frame is the innermost of."""
        addresses: list[int] = []
        add, each = addresses.append, frame
        while each is not None:
            add(_id(each.f_code))
            add(each.f_lasti)
            each = each.f_back
        key = tuple(addresses)
        return self._known.get(key) or self._apart(lambda: self._meet(key, frame))

    def _meet(self, key: tuple[int, ...], frame: FrameType | None) -> Caller:
        frames = frames_out(frame)
        owns = self._ownership.owns
        caller = Caller(
            tuple((each.f_code, each.f_lineno or 0) for each in reversed(frames) if owns(each.f_code.co_filename)),
            tuple({each.f_code for each in frames}),
        )
        if len(self._known) >= _KNOWN_AT_MOST:
            self._known.clear()
        self._known[key] = caller
        return caller
