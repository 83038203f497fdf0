"""What is noted of a pass, as it goes by and as it is reported, and of the line that asks for it."""

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from gradsan.facts.location import Frame
from gradsan.observe.callers import UNREAD, Caller
from gradsan.observe.graph_snapshot import Snapshot

# Notes kept for each line that asks for passes: its first ones, and its last ones.
FIRST, _LAST = 4, 48
_BEGINS = 65_536  # beginnings of its passes


class Begun(NamedTuple):
    """What is kept of a pass while the program runs. A tuple: nothing in Python is made faster."""

    order: int  # from 0: the n-th pass of the process
    thread: int
    begin: int
    created: int  # how many ops had been created since the pass of its line before
    site: "Site"
    caller: Caller  # `UNREAD`: the log knows
    page: int  # of the log
    events: int  # on that page
    accumulates: bool  # False: `autograd.grad`
    retains: bool
    creates: bool  # a graph of the gradients
    step: int  # from 1: the n-th pass of its line
    outer: int | None  # the pass that it ran inside of
    snapshot: Snapshot | None  # the latest of a pass of its line

    @property
    def seen(self) -> Snapshot | None:
        """What was seen of its own graph."""
        return self.snapshot if self.snapshot is not None and self.snapshot.order == self.order else None

    @property
    def like(self) -> Snapshot | None:
        """What was seen of its own graph, or of one that is like it."""
        return self.snapshot if self.snapshot is not None and self.snapshot.created == self.created else self.seen

    @property
    def since(self) -> int:
        """The op counter at the pass of its line before."""
        return self.begin - self.created


@dataclass(frozen=True)
class PassNote:
    """One pass, in plain numbers."""

    index: int
    thread: int
    begin: int
    accumulates: bool
    retains: bool
    step: int
    outer: int | None
    read_stack: Callable[[], tuple[Frame, ...]] = field(repr=False)
    line: tuple[int, int] | None
    failed: bool
    seen: bool  # whether a snapshot of its graph was taken; otherwise all that is said of it is inferred
    losses: tuple[int, ...] = ()
    walked: "array[int] | None" = None  # None: no snapshot was taken, nor of one like it
    leaves: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, begun: Begun, read_stack: Callable[[], tuple[Frame, ...]], *, failed: bool) -> "PassNote":
        """What is known of a pass, with what can be inferred."""
        snapshot, seen = begun.like, begun.seen
        walked, losses = (
            (None, ())
            if snapshot is None
            else snapshot.moved(begun.begin)
            if seen is None
            else (snapshot.walked, snapshot.losses)
        )
        return cls(
            index=begun.order,
            thread=begun.thread,
            begin=begun.begin,
            accumulates=begun.accumulates,
            retains=begun.retains,
            step=begun.step,
            outer=begun.outer,
            read_stack=read_stack,
            line=begun.site.line,
            failed=failed,
            seen=seen is not None,
            losses=losses,
            walked=walked,
            leaves={} if seen is None else seen.leaves,
        )

    @cached_property
    def stack(self) -> tuple[Frame, ...]:
        """The user's calls that led to it."""
        return self.read_stack()

    def walks(self, number: int) -> bool:
        """Whether it ran the op with this number, created before it."""
        if not self.walked:
            return False
        # Each thread counts its ops by itself; a pass that a device's thread asks for walks those of the program's.
        is_of_this_thread = self.walked[-1] <= self.begin
        return bisect_right(self.walked, number) % 2 == 1 and (number < self.begin or not is_of_this_thread)

    @property
    def span(self) -> tuple[int, int]:
        """The lowest number that it walked, and the one after the highest."""
        return (self.walked[0], self.walked[-1]) if self.walked else (0, 0)


@dataclass(slots=True, eq=False)
class Site:
    """A line that asks for passes, in one thread: what another thread does there may be something else."""

    line: tuple[int, int] | None
    caller: Caller  # as it was first read
    is_one: bool = True  # it has never been read to be called in another way
    passes: int = 0
    steps: int = 0  # those of them that ran inside of no other of its own
    due: int = 0  # how many passes it has when the next snapshot is due
    sooner: int = 0  # the same, if one is not like that of the snapshot
    begin: int = 0  # where its last pass began
    begins: "array[int]" = field(default_factory=lambda: array("Q"))  # of its passes, inside of no other
    forgotten: int = 0  # how many of those are no longer kept
    first: list[Begun] = field(default_factory=list)
    last: "deque[Begun]" = field(default_factory=lambda: deque(maxlen=_LAST))
    snapshot: Snapshot | None = None  # the latest of one of its passes
    logged: int = 0  # its line's number in the log, where that is sure to know the stack

    def counted(self, begin: int, outer: Begun | None) -> int:
        """Count one more; answers how many ops its thread has created since its pass before."""
        self.passes += 1
        # A checkpoint runs passes inside of the one that its user's line asked for.
        self.steps += outer is None or outer.site is not self
        before, self.begin = self.begin, begin
        if outer is None:
            self.begins.append(begin)
            if len(self.begins) > _BEGINS:
                self.forgotten += _BEGINS // 2
                del self.begins[: _BEGINS // 2]
        created = begin - before
        if self.snapshot is not None and self.snapshot.created != created:
            self.due = min(self.due, self.sooner)
        return created

    @property
    def agreed(self) -> tuple[Frame, ...]:
        """The calls that are sure to have led to each of its passes."""
        stack = self.caller.stack
        return stack if self.is_one else stack[-1:]


# In place of the note of one that is on the tape.
TAPED = Begun._make((-1, 0, 0, 0, Site(None, UNREAD), UNREAD, 0, 0, False, False, False, 0, None, None))
