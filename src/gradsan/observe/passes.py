"""Notes of every pass: who asked for it, from where, and which ops it walked, within a budget of time and memory."""

import threading
import time
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from types import FrameType
from typing import Any, NamedTuple

from gradsan.lifecycle.location import Frame
from gradsan.observe.callers import Apart, Caller, Callers
from gradsan.observe.graph import leading_to, leaves_of, loss_chain, ranges_of, reach, roots_of

# A site's first passes are always walked; after that, walking all of them together may cost this share of the time.
_WALKED_AT_FIRST = 6
_SHARE = 0.005
# Notes kept for each line that asks for passes: its first ones, and its last ones.
_FIRST, _LAST = 4, 48


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of a pass's graph."""

    order: int  # of the pass
    begin: int  # the op counter when it began
    made: int  # how many ops had been made since the pass before it
    losses: tuple[int, ...]  # creation numbers of its roots, and of the terms that they are sums of
    walked: "array[int]"  # creation numbers, as ranges
    leaves: dict[int, int]  # id of a leaf → its version

    def walks(self, number: int) -> bool:
        """Whether the pass runs the op with this number."""
        return bisect_right(self.walked, number) % 2 == 1

    def moved(self, begin: int) -> tuple["array[int]", tuple[int, ...]]:
        """What a pass like it walks that began then, and its losses: the same ops made again, and none older."""
        since, by = self.begin - self.made, begin - self.begin
        walked = array("Q")
        for start, stop in zip(self.walked[::2], self.walked[1::2], strict=True):
            if start >= since:
                walked.extend((start + by, stop + by))
        return walked, tuple(number + by for number in self.losses if number >= since)


class Begun(NamedTuple):
    """What is kept of a pass while the program runs. A tuple: nothing in Python is made faster."""

    order: int  # from 0: the n-th pass of the process
    thread: int
    begin: int
    caller: Caller
    accumulates: bool  # False: `autograd.grad`
    retains: bool
    creates: bool  # a graph of the gradients
    step: int  # from 1: the n-th pass of its line
    outer: int | None  # the pass that it ran inside of
    look: Look | None  # at its own graph, or at that of a pass like it

    @property
    def seen(self) -> Look | None:
        """What was seen of its own graph."""
        return self.look if self.look is not None and self.look.order == self.order else None


_new_tuple = tuple.__new__  # past the checks of a named tuple's own constructor, which cost more than the rest


@dataclass(frozen=True, slots=True)
class PassNote:
    """One pass, in plain numbers."""

    index: int
    thread: int
    begin: int
    accumulates: bool
    retains: bool
    step: int
    outer: int | None
    stack: tuple[Frame, ...]  # the user's calls that led to it
    line: tuple[int, int] | None
    failed: bool
    seen: bool  # whether its graph was looked at; otherwise all that is said of it is inferred
    losses: tuple[int, ...] = ()
    walked: "array[int] | None" = None  # None: not looked at, nor like one that was
    leaves: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, begun: Begun, *, failed: bool) -> "PassNote":
        """What is known of a pass, with what can be inferred."""
        look = begun.look
        seen = look is not None and look.order == begun.order
        walked, losses = (
            (None, ()) if look is None else look.moved(begun.begin) if not seen else (look.walked, look.losses)
        )
        return cls(
            index=begun.order,
            thread=begun.thread,
            begin=begun.begin,
            accumulates=begun.accumulates,
            retains=begun.retains,
            step=begun.step,
            outer=begun.outer,
            stack=begun.caller.stack,
            line=begun.caller.line,
            failed=failed,
            seen=seen,
            losses=losses,
            walked=walked,
            leaves=look.leaves if look is not None and seen else {},
        )

    def walks(self, number: int) -> bool:
        """Whether it ran the op with this number, made before it."""
        if self.walked is None or number >= self.begin:
            return False
        return bisect_right(self.walked, number) % 2 == 1

    @property
    def span(self) -> tuple[int, int]:
        """The lowest number that it walked, and the one after the highest."""
        return (self.walked[0], self.walked[-1]) if self.walked else (0, 0)


@dataclass(slots=True)
class _Site:
    """A line that asks for passes."""

    passes: int = 0
    begin: int = 0  # of its last pass
    first: list[Begun] = field(default_factory=list)
    last: "deque[Begun]" = field(default_factory=lambda: deque(maxlen=_LAST))
    look: Look | None = None  # the latest at one of its passes
    due: int = 0  # the pass to look at next


class Passes:
    """The notes of a process.

    `apart` calls a function in such a way that nothing of what it does is compiled with the program.
    """

    def __init__(
        self,
        callers: Callers,
        op_counter: Callable[[], int],
        apart: Apart = lambda call: call(),
    ) -> None:
        self._callers = callers
        self._counter = op_counter
        self._apart = apart
        self._sites: dict[tuple[int, int] | None, _Site] = {}
        self._indexes = count()  # draws a number in one move, whichever thread asks
        self._running: dict[int, int] = {}  # by thread, the index of the innermost pass that runs there
        self._failed: deque[int] = deque(maxlen=256)
        self._started = time.perf_counter()
        self._cost = 0.0  # of the latest look, in seconds
        self.count = 0

    def begin(
        self, tensors: Sequence[Any], args: tuple[Any, ...], named: dict[str, Any], frame: FrameType | None
    ) -> Begun:
        """A pass is about to run. Most programs come through here once a step, so it does as little as it can."""
        caller = self._callers.of(frame)
        site = caller.site or self._site(caller)
        thread, begin, index = _this_thread(), self._counter(), next(self._indexes)
        running = self._running
        outer = running.get(thread)
        site.passes = step = site.passes + 1
        made, site.begin = begin - site.begin, begin
        look = site.look
        if step >= site.due:
            look = self._apart(lambda: self._looked(tensors, args, named, (index, begin, made)))
            site.look = look
            site.due = step + 1 if step < _WALKED_AT_FIRST else step + self._pause()
        elif look is not None and look.made != made:
            look = None
        # By place, as `torch.autograd.backward` and `torch.autograd.grad` give it; by name from anyone else.
        retains = bool(args[1] if len(args) > 1 else named.get("retain_graph"))
        creates = bool(args[2] if len(args) > 2 else named.get("create_graph"))  # noqa: PLR2004 # by place
        accumulates = bool(named.get("accumulate_grad"))
        begun = _new_tuple(Begun, (index, thread, begin, caller, accumulates, retains, creates, step, outer, look))
        (site.last if step > _FIRST else site.first).append(begun)
        running[thread] = index
        self.count = index + 1
        return begun

    def end(self, begun: Begun, *, failed: bool = False) -> None:
        """It has run, or raised."""
        if begun.outer is None:
            self._running.pop(begun.thread, None)
        else:
            self._running[begun.thread] = begun.outer
        if failed:
            self._failed.append(begun.order)

    def note(self, begun: Begun) -> PassNote:
        """What is known of a pass."""
        return PassNote.of(begun, failed=begun.order in self._failed)

    def all(self) -> list[PassNote]:
        """What is still known of the passes so far, oldest first."""
        kept = [each for site in list(self._sites.values()) for each in (*site.first, *site.last)]
        return [self.note(each) for each in sorted(kept, key=lambda each: each.order)]

    def before(self, note: PassNote) -> list[PassNote]:
        """What is still known of the passes before this one, oldest first."""
        return [each for each in self.all() if each.index < note.index]

    def step_of(self, number: int, note: PassNote) -> int | None:
        """The step in which an op was made, counted in passes of this one's line; None: too long ago to tell."""
        site = self._sites[note.line]
        kept = (*site.first, *site.last)
        following = next((each for each in kept if each.begin > number), None)
        if following is None:
            return note.step
        return None if site.last and following is site.last[0] and following.step > _FIRST + 1 else following.step

    def _site(self, caller: Caller) -> _Site:
        site = caller.site = self._sites.setdefault(caller.line, _Site())
        return site

    def _looked(
        self, tensors: Sequence[Any], args: tuple[Any, ...], named: dict[str, Any], when: tuple[int, int, int]
    ) -> Look:
        """Walk the graph that the pass is about to walk."""
        started = _now()
        roots = roots_of(tensors)
        losses = tuple(each._sequence_nr() for each in loss_chain(roots))  # noqa: SLF001 # as in graph.py
        below = reach(roots)
        runs: Any = below
        inputs = tuple((args[3] if len(args) > 3 else named.get("inputs")) or ())  # noqa: PLR2004 # by place, as above
        if inputs:
            inclusive = bool(named.get("accumulate_grad"))
            runs = leading_to(below, _targets(inputs, below), inclusive=inclusive)
        leaves = {id(leaf): leaf._version for leaf in leaves_of(below)}  # noqa: SLF001 # how autograd counts edits
        look = Look(*when, losses, ranges_of(runs), leaves)
        self._cost = _now() - started
        return look

    def _pause(self) -> int:
        """How many passes of a line to let go by after a look, so that looks take no more than their share."""
        interval = (_now() - self._started) / (self.count + 1)
        return 1 + int(self._cost / (_SHARE * interval))


_now = time.perf_counter
_this_thread = threading.get_ident


def _targets(inputs: tuple[Any, ...], below: dict[Any, Any]) -> list[Any]:
    """The nodes of the tensors that a pass was asked to differentiate towards."""
    wanted = {id(each) for each in inputs}
    leaves = [node for node in below if id(getattr(node, "variable", None)) in wanted]
    return [*leaves, *(node for node in roots_of(inputs) if node in below)]
