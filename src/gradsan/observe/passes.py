"""Notes of every pass: who asked for it, from where, and which ops it walked, within a budget of time and memory."""

import threading
import time
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from gradsan.lifecycle.location import Frame
from gradsan.observe.graph import leading_to, leaves_of, loss_chain, ranges_of, reach, roots_of
from gradsan.observe.ownership import Ownership

# A site's first passes are always walked; after that, walking all of them together may cost this share of the time.
_WALKED_AT_FIRST = 6
_SHARE = 0.01
# Notes kept for each line that asks for passes: its first ones, and its last ones.
_FIRST, _LAST = 4, 48

Calls = tuple[tuple[CodeType, int], ...]  # code and line, outermost first


@dataclass(slots=True)
class PassNote:
    """One pass, in plain numbers."""

    index: int  # from 0: the n-th pass of the process
    thread: int
    begin: int  # the op counter when it began
    calls: Calls
    accumulates: bool  # False: `autograd.grad`
    retains: bool
    step: int  # from 1: the n-th pass of its line
    outer: int | None  # the pass that it ran inside of
    losses: tuple[int, ...] = ()  # creation numbers of its roots, and of the terms that they are sums of
    walked: "array[int] | None" = None  # creation numbers, as ranges; None: not looked at
    like: "Likeness | None" = None  # what tells how it would look
    leaves: dict[int, int] = field(default_factory=dict)  # id of a leaf → its version
    failed: bool = False

    @property
    def seen(self) -> bool:
        """Whether its graph was looked at; otherwise all that is said of it is inferred."""
        return self.walked is not None and self.like is None

    def settle(self) -> None:
        """Work out what was only inferred so far."""
        if self.like is not None and self.walked is None:
            self.walked, self.losses = self.like.applied(self.begin)

    def walks(self, number: int) -> bool:
        """Whether it ran the op with this number, made before it."""
        if self.walked is None or number >= self.begin:
            return False
        return bisect_right(self.walked, number) % 2 == 1

    @property
    def span(self) -> tuple[int, int]:
        """The lowest number that it walked, and the one after the highest."""
        return (self.walked[0], self.walked[-1]) if self.walked else (0, 0)

    @property
    def stack(self) -> tuple[Frame, ...]:
        """The user's calls that led to it."""
        return tuple(Frame(code.co_filename, line, code.co_qualname) for code, line in self.calls)


@dataclass(frozen=True, slots=True)
class Likeness:
    """A pass of the same line that was walked, with as many ops made since the pass before it."""

    note: PassNote
    made: int

    def applied(self, begin: int) -> tuple["array[int]", tuple[int, ...]]:
        """What a pass that began then walks, and its losses: the same ops, made again. Older ones are not known."""
        since, by = self.note.begin - self.made, begin - self.note.begin
        ranges = self.note.walked or array("Q")
        moved = array("Q")
        for start, stop in zip(ranges[::2], ranges[1::2], strict=True):
            if start >= since:
                moved.extend((start + by, stop + by))
        return moved, tuple(number + by for number in self.note.losses if number >= since)


@dataclass(slots=True)
class _Site:
    """A line that asks for passes."""

    passes: int = 0
    begin: int = 0  # of its last pass
    first: list[PassNote] = field(default_factory=list)
    last: "deque[PassNote]" = field(default_factory=lambda: deque(maxlen=_LAST))
    pattern: Likeness | None = None  # its last pass that was walked


class Passes:
    """The notes of a process."""

    def __init__(self, ownership: Ownership, op_counter: Callable[[], int]) -> None:
        self._ownership = ownership
        self._counter = op_counter
        self._sites: dict[tuple[CodeType, int] | None, _Site] = {}
        self._running = threading.local()
        self._started = time.perf_counter()
        self._spent = 0.0
        self.count = 0

    def begin(self, tensors: Sequence[Any], how: "Asked", frame: FrameType) -> PassNote:
        """A pass is about to run."""
        calls = self._calls(frame)
        site = self._sites.setdefault(calls[-1] if calls else None, _Site())
        site.passes += 1
        note = PassNote(
            index=self.count,
            thread=threading.get_ident(),
            begin=self._counter(),
            calls=calls,
            accumulates=how.accumulates,
            retains=how.retains,
            step=site.passes,
            outer=getattr(self._running, "index", None),
        )
        self.count += 1
        self._look(tensors, how, note, site)
        site.begin = note.begin
        (site.first if len(site.first) < _FIRST else site.last).append(note)
        self._running.index = note.index
        return note

    def end(self, note: PassNote, *, failed: bool) -> None:
        """It has run, or raised."""
        self._running.index = note.outer
        note.failed = failed

    def all(self) -> list[PassNote]:
        """What is still known of the passes so far, oldest first."""
        notes = [each for site in list(self._sites.values()) for each in (*site.first, *site.last)]
        for each in notes:
            each.settle()
        return sorted(notes, key=lambda each: each.index)

    def before(self, note: PassNote) -> list[PassNote]:
        """What is still known of the passes before this one, oldest first."""
        return [each for each in self.all() if each.index < note.index]

    def step_of(self, number: int, note: PassNote) -> int | None:
        """The step in which an op was made, counted in passes of this one's line; None: too long ago to tell."""
        site = self._sites[note.calls[-1] if note.calls else None]
        following = next((each for each in (*site.first, *site.last) if each.begin > number), note)
        known = following.step == 1 or following in site.first or following is not site.last[0]
        return following.step if known else None

    def _calls(self, frame: FrameType | None) -> Calls:
        owns = self._ownership.owns
        calls = []
        while frame is not None:
            code = frame.f_code
            if owns(code.co_filename):
                calls.append((code, frame.f_lineno or 0))
            frame = frame.f_back
        calls.reverse()
        return tuple(calls)

    def _look(self, tensors: Sequence[Any], how: "Asked", note: PassNote, site: _Site) -> None:
        """Walk the graph that the pass is about to walk, or infer it from a pass like it."""
        made = note.begin - site.begin
        started = time.perf_counter()
        if site.passes > _WALKED_AT_FIRST and self._spent > _SHARE * (started - self._started):
            if site.pattern is not None and site.pattern.made == made:
                note.like = site.pattern
            return
        roots = roots_of(tensors)
        note.losses = tuple(each._sequence_nr() for each in loss_chain(roots))  # noqa: SLF001 # as in graph.py
        below = reach(roots)
        runs: Any = below
        if how.inputs:
            targets = _targets(how.inputs, below)
            runs = leading_to(below, targets, inclusive=how.accumulates)
        note.walked = ranges_of(runs)
        note.leaves = {id(leaf): leaf._version for leaf in leaves_of(below)}  # noqa: SLF001 # how autograd counts edits
        site.pattern = Likeness(note, made)
        self._spent += time.perf_counter() - started


@dataclass(frozen=True, slots=True)
class Asked:
    """How a pass was asked for, read from the arguments of the engine's one entry."""

    retains: bool
    creates: bool  # a graph of the gradients
    accumulates: bool
    inputs: tuple[Any, ...]

    @classmethod
    def of(cls, args: tuple[Any, ...], named: dict[str, Any]) -> "Asked":
        """Both spellings: `torch.autograd.backward` and `torch.autograd.grad` give the first four by place."""
        places = dict(zip(("gradients", "retain_graph", "create_graph", "inputs"), args, strict=False)) | named
        return cls(
            retains=bool(places.get("retain_graph")),
            creates=bool(places.get("create_graph")),
            accumulates=bool(places.get("accumulate_grad", False)),
            inputs=tuple(places.get("inputs") or ()),
        )


def _targets(inputs: tuple[Any, ...], below: dict[Any, Any]) -> list[Any]:
    """The nodes of the tensors that a pass was asked to differentiate towards."""
    wanted = {id(each) for each in inputs}
    leaves = [node for node in below if id(getattr(node, "variable", None)) in wanted]
    return [*leaves, *(node for node in roots_of(inputs) if node in below)]
