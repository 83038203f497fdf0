"""Graphs that pile up between two passes and that none takes: a validation without `no_grad` that keeps its outputs.

A step creates about as many ops as the one before. Where a function returns, or a pass begins, and many times as many
have been created, the program's variables are looked through. What is found is a hoard only if nobody comes for it: its
ops die without a pass. Losses that are stacked and back-propagated later live until then.
"""

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import FrameType
from typing import Any

from gradsan.facts.course import Hoard
from gradsan.facts.incident import Stack
from gradsan.observe.graph import Node
from gradsan.observe.ledger.container_writes import feed_of
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.holder_scan import Graph
from gradsan.observe.log.pen import NEVER
from gradsan.observe.naming.holders import Held
from gradsan.observe.notes import Begun, PassNote
from gradsan.observe.private import has_compiled

_TIMES = 6  # as many ops as a step makes
_OPS = 48  # at least
_GRAPHS = 8
_SAMPLED = 8  # of them that are looked at
_PENDING = 16
_PASSES, _NUMBERS = 4, 20_000  # first and last ones, and the ops of theirs, whose lines are looked up at the end
_KEY = "gradsan"  # in an op's own dictionary


class _Token:
    """Dies with the op that it was put into: there are no weak references to ops."""

    __slots__ = ("__weakref__",)


@dataclass(slots=True)
class _Suspect:
    hoard: Hoard
    key: tuple[str, str]
    numbers: list[int]
    tokens: "list[weakref.ref[_Token]]"

    @property
    def lives(self) -> bool:
        return any(each() is not None for each in self.tokens)


class Hoards:
    """Of a process."""

    def __init__(self, run: Run, in_turn: Callable[[Callable[[], None]], None], attend: Callable[[], None]) -> None:
        self._run = run
        self._recorder = run.process.recorder
        self._in_turn = in_turn  # with other threads, and without harm to the program
        self._attend = attend  # have every pass handed on
        self._thread = 0  # that asks for passes
        self._pending: dict[tuple[str, str], _Suspect] = {}
        self._found: dict[tuple[str, str], Hoard] = {}
        self._taken: set[tuple[str, str]] = set()  # names whose graphs a pass came for

    def pass_begins(self, note: Begun, frame: FrameType) -> None:
        """See what became of the hoards so far, and whether there is another one; before the pass is entered."""
        if not self._thread:
            self._thread = note.thread
            self._recorder.call_after(note.begin, self._function_returns)
        for key, each in list(self._pending.items()):
            if not each.lives:
                self._confirm(self._pending.pop(key))
            elif note.seen is None or any(map(note.seen.walks, each.numbers)):
                del self._pending[key]
                if note.seen is not None:
                    self._taken.add(key)
        if note.begin > self._recorder.due:
            self._ring(frame, note.begin)

    @property
    def is_waiting(self) -> bool:
        """Whether it is yet to be seen what becomes of a hoard."""
        return bool(self._pending)

    def _function_returns(self, frame: FrameType, number: int) -> None:
        latest = self._run.process.passes.tape.latest
        if number - latest < _OPS:  # as nearly always, where steps are small
            self._recorder.call_after(latest + _OPS, self._function_returns)
        elif sys.exc_info()[0] is None:  # else it does not return, but is left
            self._in_turn(lambda: self._ring(frame, number))

    def close(self) -> None:
        """Listen no more."""
        self._recorder.call_after(NEVER, lambda *_: None)

    def _ring(self, frame: FrameType | None, number: int) -> None:
        """The op counter stands at `number`: were many more ops created since the last pass than a step creates?"""
        if self._recorder.pen.threads.number() != self._thread:
            return
        usual = self._run.lines.usual_gap()
        if usual is None:
            self._recorder.call_after(number + _OPS, self._function_returns)
            return
        latest, needed = self._run.lines.latest, max(_OPS, _TIMES * usual)
        created = number - latest
        if created < needed:
            self._recorder.call_after(latest + needed, self._function_returns)
            return
        self._recorder.call_after(number + created, self._function_returns)
        if not has_compiled():
            self._run.budget.spend(lambda: self._search(frame, latest))

    def facts(self) -> tuple[Hoard, ...]:
        """When all is over: what nobody came for."""
        passes = self._run.process.passes
        self._ring(None, passes.counter())
        self.close()
        for each in self._pending.values():
            self._confirm(each)
        found = [hoard for key, hoard in self._found.items() if key not in self._taken]
        taken = self._taken_stacks(passes.all()) if found else set()
        return tuple(each for each in found if each.made not in taken)

    def _taken_stacks(self, notes: Sequence[PassNote]) -> set[Stack]:
        """Where ops were created that passes took. A program may end before a pass comes for the rest of them."""
        seen = [each for each in notes if each.seen and each.walked and each.thread == self._thread]
        pairs = (pair for note in (*seen[:_PASSES], *seen[-_PASSES:]) for pair in _ranges(note))
        numbers = {number for start, stop in pairs for number in range(start, stop)}
        return {self._run.process.stack_of(number) for number in islice(numbers, _NUMBERS)}

    def _confirm(self, suspect: _Suspect) -> None:
        known = self._found.get(suspect.key)
        if known is None or (suspect.hoard.graphs or 0) > (known.graphs or 0):
            self._found[suspect.key] = suspect.hoard

    def _search(self, frame: FrameType | None, latest: int) -> None:
        search = self._run.held(frame)
        claimed: set[int] = set()
        for key, held in sorted(search.groups.items(), key=_nearness):
            numbers = sorted({each.number for each in held if each.number >= latest})
            is_new = len(numbers) >= _GRAPHS and claimed.isdisjoint(numbers) and len(self._pending) < _PENDING
            if is_new and not any(key[0].startswith(each) for each in search.bounded):
                suspect = self._suspect(key, held[0], [search.nodes[each] for each in numbers], latest)
                if suspect is not None:
                    suspect.hoard = replace(suspect.hoard, of_numbers=search.larger.isdisjoint(numbers))
                    claimed.update(numbers)
                    self._pending[key] = suspect
                    self._attend()

    def _suspect(self, key: tuple[str, str], first: Held, nodes: list[Node], latest: int) -> _Suspect | None:
        sample = nodes[:: max(len(nodes) // _SAMPLED, 1)]
        graphs = [Graph([node]) for node in sample]
        if not _are_apart(graphs, latest):
            return None
        numbers = [node._sequence_nr() for node in sample]  # noqa: SLF001 # creation_number() costs a call more
        created = [self._run.process.stack_of(number) for number in (numbers[0], numbers[-1])]
        if not created[0] or not created[1] or created[0][-1] != created[1][-1]:
            return None
        feed = feed_of(key[0], key[1], created[1][-1], self._run.files)
        share = len(nodes) / len(sample)
        return _Suspect(
            Hoard(
                name=key[0] if feed is None else feed.name,
                holder="item" if first.name != key[0] else first.holder,
                function=key[1],
                fed=() if feed is None else (feed.place,),
                made=created[1],
                graphs=len(nodes),
                ops=int(sum(len(each.numbers) for each in graphs) * share),
                saved_bytes=int(sum(each.saved_bytes for each in graphs) * share),
            ),
            key,
            numbers,
            [_mark(node) for node in sample],
        )


def _nearness(group: tuple[tuple[str, str], list[Held]]) -> tuple[bool, int]:
    """Whose own it is comes before those who were given it."""
    first = group[1][0]
    return first.holder == "argument", first.depth


def _are_apart(graphs: list[Graph], latest: int) -> bool:
    """Whether these are results of the same forward, run again and again: no op is shared, but every parameter is."""
    seen: set[int] = set()
    for each in graphs:
        if each.leaves != graphs[0].leaves or not seen.isdisjoint(each.numbers) or min(each.numbers) < latest:
            return False
        seen |= each.numbers
    return bool(graphs[0].leaves)


def _ranges(note: PassNote) -> Iterator[tuple[int, int]]:
    walked = note.walked or ()
    return zip(walked[::2], walked[1::2], strict=True)


def _mark(node: Any) -> "weakref.ref[_Token]":  # noqa: ANN401 # autograd's ops have no public type
    token = _Token()
    node.metadata[_KEY] = token
    return weakref.ref(token)
