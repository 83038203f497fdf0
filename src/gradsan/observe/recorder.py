"""Switches the line log on and off, the way that this Python allows, and hands out what it recorded."""

import sys
import threading
from ast import AST
from collections.abc import Callable, Iterable
from types import CodeType, FrameType

from gradsan.lifecycle.location import Frame
from gradsan.observe.journal import BLOCK_WORDS
from gradsan.observe.lines import Lines, frames_out
from gradsan.observe.ownership import Ownership
from gradsan.observe.pen import Pen
from gradsan.observe.private import private
from gradsan.observe.sites import Sites

_HAS_MONITORING = sys.version_info >= (3, 12)


class LineRecorder:
    """Maps every op to the user's line that made it, from `start()` to `stop()`; one at a time in a process.

    `tell` receives the one line that is said when recording is impossible, or ended by an error of gradsan's own.
    """

    def __init__(
        self,
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        tell: Callable[[str], None] = lambda _: None,
        op_counter: Callable[[], int] | None = None,
        room: int = BLOCK_WORDS,
    ) -> None:
        self.ownership = Ownership(include=include, exclude=exclude)
        self.provenance = "lines are not recorded: recording was not started"
        self.recording = False
        self._tell = tell
        self._counter = op_counter
        self._sites = Sites()
        self._room = room
        self._pen: Pen | None = None
        self._way: _Way | None = None

    def start(self) -> None:
        """Begin to record; where that is impossible, say so and do nothing."""
        if self.recording:
            return
        counter = self._counter or private().op_counter
        if counter is None:
            self._decline("lines are not recorded: " + "; ".join(private().missing))
            return
        self._pen = Pen(self._sites, counter, self._fail, room=self._room)
        self._way = _way(self._pen, self.ownership)
        try:
            declined = self._way.start()
        except Exception as error:  # noqa: BLE001 # nothing of ours may reach the program
            self._fail(error)
            return
        if declined is not None:
            self._decline(declined)
            return
        self.recording = True
        self.provenance = _PROVENANCE

    def stop(self) -> None:
        """End, leave nothing behind; what was recorded can still be asked."""
        way, self._way, self.recording = self._way, None, False
        if way is not None:
            way.stop()

    def adopt(self) -> None:
        """On 3.11, take in the user's functions that were defined by code already running when recording began."""
        from gradsan.observe.marking import Marking

        if isinstance(self._way, Marking):
            self._way.adopt()

    def compile_user(self, source: str | bytes | AST, filename: str, mode: str = "exec") -> CodeType:
        """`compile()` for a main script or a notebook's cell, whose code no import hook sees."""
        from gradsan.observe.marking import Marking

        code: CodeType = compile(source, filename, mode, dont_inherit=True)
        if isinstance(self._way, Marking) and self.ownership.owns(filename):
            return self._way.marked(code)
        return code

    def lines(self, thread: int | None = None) -> Lines | None:
        """The log of a thread (`threading.get_ident()`; this one if not given); `None` if it ran no user's code."""
        journal = None
        if self._pen is not None:
            journal = self._pen.journal(threading.get_ident() if thread is None else thread)
        return None if journal is None else Lines(journal, self._sites, self.provenance)

    def threads(self) -> tuple[Lines, ...]:
        """The logs of all threads, oldest first, also of threads that ended."""
        journals = [] if self._pen is None else self._pen.journals
        return tuple(Lines(journal, self._sites, self.provenance) for journal in journals)

    def stack(self, frame: FrameType | None) -> tuple[Frame, ...]:
        """The user's part of a live call stack, outermost first, named as the log names it."""
        return tuple(
            Frame(each.f_code.co_filename, each.f_lineno or 0, each.f_code.co_qualname)
            for each in reversed(frames_out(frame))
            if self.ownership.owns(each.f_code.co_filename)
        )

    def _decline(self, why: str) -> None:
        self.provenance = why
        self._way = None
        self._tell(why)

    def _fail(self, error: Exception) -> None:
        if self._way is None:  # told before, or ended meanwhile
            return
        self.provenance = f"recording of lines ended early: {type(error).__name__}: {error}"
        try:
            self.stop()
        finally:
            self._tell(self.provenance)


if _HAS_MONITORING:
    from gradsan.observe.monitoring import Monitoring as _Way

    _PROVENANCE = "lines of the user's files were recorded as they ran"
else:
    from gradsan.observe.marking import Marking as _Way

    _PROVENANCE = "lines of the user's files were recorded, but for calls that were running when recording began"


def _way(pen: Pen, ownership: Ownership) -> _Way:
    return _Way(pen, ownership)
