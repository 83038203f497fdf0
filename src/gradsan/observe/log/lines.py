"""Answers about one thread's log: which line of the user's created an op, under which calls, in which iteration."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Literal

from gradsan.facts.location import Frame
from gradsan.observe.log.frames import frames_out
from gradsan.observe.log.iterations import Iterations, iterations_of
from gradsan.observe.log.journal import Block, Journal, Span, Stack, spans_of
from gradsan.observe.log.sites import SITE_BITS, SITE_MASK, Kind, Site, Sites

# A place, the op counter when the thread came there, and for generators the frame's token.
Event = tuple[Site, int, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a log."""

    number: int  # the op counter when it began
    stack: tuple[Site, ...]  # where the user's calls stood then, outermost first
    events: Iterator[Event]
    is_next: bool  # nothing is missing between the piece before and this one


@dataclass(frozen=True, slots=True)
class Unknown:
    """The log cannot know, and why. False, so that `if stack := lines.stack_of(n)` reads as it should."""

    why: str  # one clause, to follow a colon

    def __bool__(self) -> Literal[False]:
        return False


class Lines:
    """The log of one thread, to be asked after the fact. Op numbers are creation numbers, which count per thread."""

    def __init__(self, journal: Journal, sites: Sites, provenance: str) -> None:
        self._journal = journal
        self._sites = sites
        self._read: dict[int, tuple[Block, int, list[Span]]] = {}  # by a block's id: it, how far read, what it made
        self.provenance = provenance  # how lines were recorded, in a sentence

    @property
    def thread(self) -> int:
        """The number of the thread."""
        return self._journal.thread

    @property
    def thinned(self) -> tuple[int, int] | None:
        """The op numbers (start, stop) of which, in a long run, only the first runs of each line are known."""
        return self._journal.lost

    def stack_of(self, number: int) -> tuple[Frame, ...] | Unknown:
        """The user's calls when an op was created, outermost first; the last is the line that created it."""
        found = self._journal.find(number)
        if found is None:
            lost = self._journal.lost
            if lost is not None and lost[0] <= number < lost[1]:
                return Unknown(f"the log of a long run was thinned between ops {lost[0]} and {lost[1]}")
            return Unknown("it was made before recording began")
        span = found if isinstance(found, Span) else self._span_in(*found, number)
        if span is None or span.stack is None:
            return Unknown("no line of the user's was running")
        return self._frames(span.stack)

    def created_by(self, file: str, line: int, callers: tuple[Frame, ...] = ()) -> tuple[tuple[int, int], ...]:
        """The op numbers that a line itself made, as ranges (start, stop); those of calls it made are not among them.

        A range never spans two runs of the line; a run that called functions in between may have several. The last
        range of a line that is still running ends at `OPEN_END`. With `callers`, only what it made when they, outermost
        first, had called it.
        """
        wanted = self._sites.lines_at(file, line)
        return tuple(
            (span.start, span.stop)
            for span in self._journal.spans()
            if span.stack is not None and span.stack[0] in wanted and self._is_under(callers, span.stack[1])
        )

    def _is_under(self, callers: tuple[Frame, ...], stack: Stack) -> bool:
        for each in reversed(callers):
            if stack is None or self._sites.frame(stack[0]) != each:
                return False
            stack = stack[1]
        return True

    def replay(self, start: int, stop: int | None, *, blocks: int) -> Iterator[Stretch]:
        """What the thread did around ops `start` to `stop` (to the end if `None`).

        Of more than `blocks` stretches of the log, the middle is left out.
        """
        kept = self._journal.kept(start, stop)
        first = blocks // 3
        if len(kept) > blocks:
            left_out = id(kept[first - blocks])
            kept = kept[:first] + kept[first - blocks :]
        else:
            left_out = 0
        lost = self._journal.lost
        for block in kept:
            is_next = id(block) != left_out and (lost is None or block.number != lost[1])
            stack = tuple(self._sites[site] for site in block.stack)
            yield Stretch(block.number, stack, self._events(block), is_next=is_next)

    def iterations(self, frame: FrameType | None = None) -> tuple[Iterations, ...]:
        """The loops that are running now, outermost first: those around each live line, and repeated calls.

        Ask on the thread itself, while its calls are live. With `frame`, only loops of that call and of its callers.
        """
        stack = self._journal.machine().stack
        if frame is not None:
            depth = sum(1 for each in frames_out(frame) if self._sites.find(each.f_code) is not None)
            del stack[depth + 1 :]
        return iterations_of(stack)

    def live(self) -> tuple[Frame, ...]:
        """The user's calls as the log has them now, outermost first."""
        live = self._journal.machine().stack[1:]
        return tuple(Frame(each.code.file, each.line, each.code.function) for each in live if each.code is not None)

    def _events(self, block: Block) -> Iterator[Event]:
        sites, tokens = self._sites, iter(block.tokens[:])
        for word in block.words[:]:
            site = sites[word & SITE_MASK]
            has_token = Kind.SUSPEND <= site[0] < Kind.LINE
            yield site, word >> SITE_BITS, next(tokens) if has_token else 0

    def _span_in(self, block: Block, stop: int | None, number: int) -> Span | None:
        _, size, made = self._read.get(id(block), (block, -1, []))
        if size != len(block.words):
            made = list(spans_of(self._sites, block, stop))
            self._read[id(block)] = (block, len(block.words), made)
        index = bisect_right(made, number, key=lambda span: span.start) - 1
        return made[index] if index >= 0 and number < made[index].stop else None

    def _frames(self, stack: Stack) -> tuple[Frame, ...]:
        frames = []
        while stack is not None:
            frames.append(self._sites.frame(stack[0]))
            stack = stack[1]
        return tuple(reversed(frames))
