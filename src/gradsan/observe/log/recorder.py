"""Switches the line log on and off, the way that this Python allows, and hands out what it recorded."""

import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Protocol

from gradsan.facts.location import Frame
from gradsan.observe.guarding import is_ours, shown
from gradsan.observe.log.frames import frames_out
from gradsan.observe.log.journal import BLOCK_WORDS, stack_after
from gradsan.observe.log.lines import Lines
from gradsan.observe.log.pen import Pen
from gradsan.observe.log.sites import Kind, Sites
from gradsan.observe.ownership import Ownership
from gradsan.observe.private import private


class _Method(Protocol):
    """A way to record."""

    def prepare(self) -> str | None:
        """See to it that what is compiled from now on can be recorded; a sentence if that is impossible."""

    def start(self) -> str | None:
        """Begin; a sentence if that is impossible."""

    def stop(self) -> None:
        """End, and put everything back."""

    def adopt(self) -> None:
        """Take in functions that were defined unseen."""

    def marked(self, code: CodeType) -> CodeType:
        """Code that can be recorded."""


class LineRecorder:
    """Maps every op to the user's line that created it, from `start()` to `stop()`; one at a time in a process.

    `report` receives the one line that is said when recording is impossible, or ended by an error of gradsan's own.
    Where it is not `wanted`, nothing is recorded. `memory`: how many bytes the logs of all threads may take.
    """

    def __init__(
        self,
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        report: Callable[[str], None] = lambda _: None,
        op_counter: Callable[[], int] | None = None,
        room: int = BLOCK_WORDS,
        wanted: bool = True,
        memory: int | None = None,
    ) -> None:
        self.ownership = Ownership(include=include, exclude=exclude)
        self.provenance = "lines are not recorded: " + ("recording was not started" if wanted else "nobody wants them")
        self._wanted = wanted
        self.recording = False
        self._report = report
        self._counter = op_counter
        self._sites = Sites()
        self._room = room
        self._blocks = None if memory is None else memory // (8 * room)
        self.pen = self._new_pen()
        self._method: _Method | None = None
        self.when_stopped: list[Callable[[], object]] = []  # whoever reads the log as it is written

    def prepare(self) -> None:
        """Before torch is there, whose ops the log counts: have what is compiled from now on ready for `start()`."""
        if self._method is None and self._wanted:
            self._sites = Sites()
            self.pen = self._new_pen()
            self._method = method = _method(self.pen, self.ownership)
            self._attempt(method.prepare)

    def _new_pen(self) -> Pen:
        return Pen(self._sites, lambda: 0, self._fail, room=self._room, blocks=self._blocks)

    def start(self) -> None:
        """Begin to record; where that is impossible, say so and do nothing."""
        if self.recording or not self._wanted:
            return
        counter = self._counter or private().op_counter
        if counter is None:
            self._decline("lines are not recorded: " + "; ".join(private().missing))
            return
        self.prepare()
        if self._method is None:
            return
        self.pen.op_counter = counter
        self.recording = self._attempt(self._method.start)
        if self.recording:
            self.provenance = _PROVENANCE

    def _attempt(self, begin: Callable[[], str | None]) -> bool:
        try:
            declined = begin()
        except BaseException as error:
            if not is_ours(error):
                raise
            self._fail(error)
            return False
        if declined is not None:
            self._decline(declined)
        return declined is None

    def stop(self) -> None:
        """End, leave nothing behind; what was recorded can still be asked."""
        method, self._method, self.recording = self._method, None, False
        for each in self.when_stopped:
            each()
        if method is not None:
            method.stop()

    def adopt(self) -> None:
        """On 3.11, take in the user's functions that were defined by code already running when recording began."""
        if self._method is not None:
            self._method.adopt()

    def hold(self, frame: FrameType) -> Callable[[], None]:
        """Take it that running calls of the user's stay at their lines, until what is returned is called.

        A trainer knows that of those that called it. On 3.11 nothing else is known of calls that began unseen.
        """
        sites = self._sites
        unseen = [each.f_code for each in frames_out(frame) if self.ownership.owns(each.f_code.co_filename)]
        held = [each for each in dict.fromkeys(unseen) if sites.find(each) is None and sites.add(each) is not None]
        if held:
            self.pen.turn(frame)

        def release() -> None:
            for each in held:
                sites.drop(each)
            if held and self.recording:
                self.pen.turn(sys._getframe())  # noqa: SLF001 # the only way to a frame

        return release

    def marked(self, code: CodeType) -> CodeType:
        """Code of the user's that no import hook sees, so that it can be recorded."""
        return self._method.marked(code) if self._method is not None and self.ownership.owns(code.co_filename) else code

    def lines(self, thread: int | None = None) -> Lines | None:
        """The log of a thread (by its number; this one if not given); `None` if it ran no user's code."""
        journal = self.pen.journal(self.pen.threads.number() if thread is None else thread)
        return None if journal is None else Lines(journal, self._sites, self.provenance)

    @property
    def due(self) -> int:
        """The op number after which a function that returns is reported."""
        return self.pen.due

    def call_after(self, due: int, ring: Callable[[FrameType, int], None]) -> None:
        """Call `ring` with the frame of any function of the user's that returns after op `due`, and with the number."""
        self.pen.ring, self.pen.due = ring, due

    def records(self, code: CodeType) -> bool:
        """Whether the lines of a code object are recorded; on 3.11 not if it was running when recording began."""
        return self._sites.find(code) is not None

    def threads(self) -> tuple[Lines, ...]:
        """The logs of all threads, oldest first, also of threads that ended."""
        return tuple(Lines(journal, self._sites, self.provenance) for journal in self.pen.journals)

    def stack_at(self, page: int, events: int) -> tuple[Frame, ...] | None:
        """The user's calls after so many events of a page of the log, outermost first; None: it is no longer kept."""
        block = self.pen.block(page)
        if block is None:
            return None
        return tuple(self._sites.frame(site) for site in stack_after(self._sites, block, events))

    def is_at_line(self, site: int) -> bool:
        """Whether a site of the log is a line of the user's."""
        return bool(site) and self._sites[site][0] is Kind.LINE

    def stack(self, frame: FrameType | None) -> tuple[Frame, ...]:
        """The user's part of a live call stack, outermost first, named as the log names it."""
        return tuple(
            Frame(each.f_code.co_filename, each.f_lineno or 0, each.f_code.co_qualname)
            for each in reversed(frames_out(frame))
            if self.ownership.owns(each.f_code.co_filename)
        )

    def _decline(self, why: str) -> None:
        reported, self.provenance = self.provenance, why
        method, self._method = self._method, None
        if method is not None:
            method.stop()
        if why != reported:
            self._report(why)

    def _fail(self, error: BaseException) -> None:
        if self._method is None:  # told before, or ended meanwhile
            return
        self.provenance = f"recording of lines ended early: {shown(error)}"
        try:
            self.stop()
        finally:
            self._report(self.provenance)


def _method(pen: Pen, ownership: Ownership) -> _Method:
    """How this Python can record."""
    if hasattr(sys, "monitoring"):
        from gradsan.observe.log.monitoring import Monitoring

        return Monitoring(pen, ownership)
    from gradsan.observe.log.marking import Marking

    return Marking(pen, ownership)


_PROVENANCE = (
    "lines of the user's files were recorded as they ran"
    if hasattr(sys, "monitoring")
    else "lines of the user's files were recorded, but for calls that were running when recording began"
)
