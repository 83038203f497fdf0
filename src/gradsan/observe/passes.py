"""Notes of every pass: who asked for it, from where, and which ops it walked, within a budget of time and memory."""

import threading
import time
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from types import FrameType
from typing import Any, NamedTuple

from gradsan.lifecycle.location import Frame
from gradsan.observe.callers import UNREAD, Apart, Caller, Callers, Place, Recent, Sure
from gradsan.observe.graph import leading_to, leaves_of, loss_chain, ranges_of, reach, roots_of, version_of
from gradsan.observe.log.journal import Page
from gradsan.observe.log.sites import SITE_MASK
from gradsan.observe.tape import CREATES, GIVES, PASS, READ, RETAINS, Record, Tape

# A site's first passes are always walked; after that, walking all of them together may cost this share of the time.
_WALKED_AT_FIRST = 6
_SHARE, _SHARE_OF_NEW = 0.001, 0.003  # where passes are like the one that was walked last, and where they are not
# Notes kept for each line that asks for passes: its first ones, and its last ones.
_FIRST, _LAST = 4, 48
_BEGINS = 65_536  # beginnings of a line's passes
# A line is looked at when that many more passes have gone by at most, whatever its neighbours do.
_TAPED_AT_LEAST, _TAPED_AT_MOST = 16, 256
_FAILED = 256  # passes of which it is remembered that they raised


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
    made: int  # how many ops had been made since the pass of its line before
    site: "Site"
    caller: Caller  # `UNREAD`: the log knows
    page: int  # of the log
    events: int  # on that page
    accumulates: bool  # False: `autograd.grad`
    retains: bool
    creates: bool  # a graph of the gradients
    step: int  # from 1: the n-th pass of its line
    outer: int | None  # the pass that it ran inside of
    look: Look | None  # the latest at a pass of its line

    @property
    def seen(self) -> Look | None:
        """What was seen of its own graph."""
        return self.look if self.look is not None and self.look.order == self.order else None

    @property
    def like(self) -> Look | None:
        """What was seen of its own graph, or of one that is like it."""
        return self.look if self.look is not None and self.look.made == self.made else self.seen

    @property
    def since(self) -> int:
        """The op counter at the pass of its line before."""
        return self.begin - self.made


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
    seen: bool  # whether its graph was looked at; otherwise all that is said of it is inferred
    losses: tuple[int, ...] = ()
    walked: "array[int] | None" = None  # None: not looked at, nor like one that was
    leaves: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, begun: Begun, read_stack: Callable[[], tuple[Frame, ...]], *, failed: bool) -> "PassNote":
        """What is known of a pass, with what can be inferred."""
        look, seen = begun.like, begun.seen
        walked, losses = (
            (None, ()) if look is None else look.moved(begun.begin) if seen is None else (look.walked, look.losses)
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
        """Whether it ran the op with this number, made before it."""
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
    """A line that asks for passes."""

    line: tuple[int, int] | None
    caller: Caller  # as it was first read
    is_one: bool = True  # it has never been read to be called in another way
    passes: int = 0
    due: int = 0  # how many passes it has when the next is to be looked at
    sooner: int = 0  # the same, if one is not like the one that was looked at
    begin: int = 0  # of its last pass
    begins: "array[int]" = field(default_factory=lambda: array("Q"))  # of passes that ran inside of no other
    forgotten: int = 0  # how many of those are no longer kept
    first: list[Begun] = field(default_factory=list)
    last: "deque[Begun]" = field(default_factory=lambda: deque(maxlen=_LAST))
    look: Look | None = None  # the latest at one of its passes
    logged: int = 0  # its line's number in the log, where that is sure to know the stack

    @property
    def agreed(self) -> tuple[Frame, ...]:
        """The calls that are sure to have led to each of its passes."""
        stack = self.caller.stack
        return stack if self.is_one else stack[-1:]


# In place of the note of one that is on the tape.
TAPED = Begun._make((-1, 0, 0, 0, Site(None, UNREAD), UNREAD, 0, 0, False, False, False, 0, None, None))


class Passes:
    """The notes of a process.

    `running_pass` answers with a number below zero outside of any pass. `apart` calls a function in such a way that
    nothing of what it does is compiled with the program. Most passes are only put on the tape, by `observe/engine.py`.
    """

    def __init__(
        self,
        callers: Callers,
        op_counter: Callable[[], int],
        running_pass: Callable[[], int],
        tape: Tape,
        apart: Apart = lambda call: call(),
    ) -> None:
        self.counter = op_counter
        self.running_pass = running_pass
        self.tape = tape
        self.sure: Sure[Site] = callers.sure()
        self.recent = Recent()
        self.begun = 0  # how many were taken in, or noted in full
        self._orders = count()  # draws a number in one move, whichever thread asks
        self._logged: dict[int, Site] = {}  # by the number of their lines in the log: all that were ever sure
        self._callers = callers
        self._apart = apart
        self._running: dict[int, list[Begun]] = {}  # by thread, those noted in full that run there, innermost last
        self._sites: dict[tuple[int, int] | None, Site] = {}
        self._failed: dict[int, Caller] = {}
        self._started = time.perf_counter()
        self._cost = 0.0  # of the latest look, in seconds
        tape.readers[PASS] = self._take
        tape.rooms["passes"] = self._room

    @property
    def count(self) -> int:
        """How many there were."""
        self.tape.take_in()
        return self.begun

    def begin(
        self, tensors: Sequence[Any], args: tuple[Any, ...], named: dict[str, Any], frame: FrameType | None, words: Page
    ) -> Begun:
        """A pass is about to run, of a line that is new or is to be looked at, or that is attended to."""
        tape, caller = self.tape, self._callers.of(frame)
        site: Site = caller.site or self._site(caller)
        tape.take_in()
        thread, begin = _this_thread(), self.counter()
        outer = self._outer(thread) if self.running_pass() >= 0 else None
        order, step, made = self._counted(site, begin, is_inner=outer is not None)
        if step > site.due:
            site.look = self._apart(lambda: self._looked(tensors, args, named, (order, begin, made)))
            site.due, site.sooner = step + self._pause(_SHARE) - 1, step + self._pause(_SHARE_OF_NEW) - 1
            if step < _WALKED_AT_FIRST:
                site.due = step
            elif step == _WALKED_AT_FIRST and self._apart(lambda: self._callers.is_sure(caller, words)):
                site.logged = words[-1] & SITE_MASK
                self._logged[site.logged] = site
        if step >= _WALKED_AT_FIRST:
            if site.logged and self._callers.are_recorded:
                self.sure[site.logged] = site
            else:
                self.recent.add(caller)
        # By place, as `torch.autograd.backward` and `torch.autograd.grad` give it; by name from anyone else.
        retains = bool(args[1] if len(args) > 1 else named.get("retain_graph"))
        creates = bool(args[2] if len(args) > 2 else named.get("create_graph"))  # noqa: PLR2004 # by place
        gives = bool(named.get("accumulate_grad"))
        note = (order, thread, begin, made, site, caller, words.ordinal, len(words), gives, retains, creates)
        begun = _new(Begun, (*note, step, outer, site.look))
        (site.last if step > _FIRST else site.first).append(begun)
        self._running.setdefault(thread, []).append(begun)
        tape.run_on()
        return begun

    def ended(self, begun: Begun) -> None:
        """One that was noted in full has run, or has raised."""
        others = [each for each in self._running.pop(begun.thread, ()) if each is not begun]
        if others:
            self._running[begun.thread] = others

    def failed(self, begun: Begun, frame: FrameType | None) -> Begun | None:
        """It has raised, and `frame` still stands where it began: what is known of it, with the stack as it was."""
        self.tape.take_in()
        self.ended(begun)
        if begun is TAPED:
            latest = self._latest(_this_thread())
            if latest is None:
                return None
            begun = latest
        caller = self._callers.of(frame) if begun.caller is UNREAD else begun.caller
        if caller.site is None:
            self._site(caller)
        self._failed[begun.order] = caller
        if len(self._failed) > _FAILED:
            del self._failed[next(iter(self._failed))]
        return begun._replace(caller=caller)

    def note(self, begun: Begun) -> PassNote:
        """What is known of a pass."""
        failed = self._failed.get(begun.order)
        caller = begun.caller if failed is None else failed

        def read_stack() -> tuple[Frame, ...]:
            if caller is not UNREAD:
                return caller.stack
            return self._callers.stack_at(Place(begun.page, begun.events)) or begun.site.agreed

        return PassNote.of(begun, read_stack, failed=failed is not None)

    def all(self) -> list[PassNote]:
        """What is still known of the passes so far, oldest first."""
        self.tape.take_in()
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

    def _take(self, record: Record) -> None:
        """One from the tape."""
        kind, begin, number, page, event, thread, _ = record
        caller = self._callers.numbered[event] if kind & READ else UNREAD
        site = self._logged[number] if caller is UNREAD else caller.site
        order, step, made = self._counted(site, begin, is_inner=False)
        flags = (kind & GIVES > 0, kind & RETAINS > 0, kind & CREATES > 0)
        note = (order, thread, begin, made, site, caller, page, event, *flags, step, None, site.look)
        site.last.append(_new(Begun, note))

    def _counted(self, site: Site, begin: int, *, is_inner: bool) -> tuple[int, int, int]:
        """Count a pass: which it is of all, which of its line, and how many ops were made since that line's before."""
        order = next(self._orders)
        self.begun = order + 1
        site.passes = step = site.passes + 1
        made, site.begin = begin - site.begin, begin
        if site.look is not None and site.look.made != made:
            site.due = min(site.due, site.sooner)
        if not is_inner:
            site.begins.append(begin)
            if len(site.begins) > _BEGINS:
                site.forgotten += _BEGINS // 2
                del site.begins[: _BEGINS // 2]
        return order, step, made

    def _room(self) -> int:
        """How many passes may go by before the next look; a line that is to be looked at is no longer sure."""
        room = _TAPED_AT_MOST
        for number, site in list(self.sure.items()):
            if site.passes >= site.due:
                self.sure.pop(number, None)
            room = min(room, site.due - site.passes)
        for caller in self.recent:
            if caller.site.passes >= caller.site.due:
                self.recent.remove(caller)
            room = min(room, caller.site.due - caller.site.passes)
        return max(room, _TAPED_AT_LEAST)

    def _outer(self, thread: int) -> int | None:
        """The pass inside of which another begins in this thread, which may be one of the device's."""
        running = self._running.get(thread)
        latest = running[-1] if running else self._latest(thread)
        return None if latest is None else latest.order

    def _latest(self, thread: int) -> Begun | None:
        """The pass of a thread that began last inside of no other; of any thread, where this one has none."""
        outermost = [
            each for site in list(self._sites.values()) for each in (*site.first, *site.last) if each.outer is None
        ]
        here = [each for each in outermost if each.thread == thread]
        return max(here or outermost, key=lambda each: each.order, default=None)

    def _site(self, caller: Caller) -> Site:
        site = self._sites.get(caller.line)
        if site is None:
            site = self._sites[caller.line] = Site(caller.line, caller)
        elif site.caller.calls != caller.calls:
            site.is_one = False
        caller.site = site
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
        leaves = {id(leaf): version_of(leaf) for leaf in leaves_of(below)}
        look = Look(*when, losses, ranges_of(runs), leaves)
        self._cost = _now() - started
        return look

    def _pause(self, share: float) -> int:
        """How many passes of a line to let go by after a look, so that looks take no more than that share."""
        interval = (_now() - self._started) / (self.begun + 1)
        return 1 + int(self._cost / (share * interval))


_new = tuple.__new__  # past a named tuple's own constructor, which `torch.compile` would look at
_now = time.perf_counter
_this_thread = threading.get_ident


def _targets(inputs: tuple[Any, ...], below: dict[Any, Any]) -> list[Any]:
    """The nodes of the tensors that a pass was asked to differentiate towards."""
    wanted = {id(each) for each in inputs}
    leaves = [node for node in below if id(getattr(node, "variable", None)) in wanted]
    return [*leaves, *(node for node in roots_of(inputs) if node in below)]
