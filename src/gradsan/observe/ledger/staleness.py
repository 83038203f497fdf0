"""Values that were computed from parameters which have been trained since, and that passes walk again and again.

That all ops of a pass are new is told from their creation numbers alone. Where it walks ops that an earlier pass of the
same calls has walked, versions tell which leaves were changed in between, and only then is its graph looked through.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import FrameType
from typing import TYPE_CHECKING, Any

from gradsan.facts.course import Stale
from gradsan.facts.incident import Stack
from gradsan.facts.location import Frame
from gradsan.observe.callers import Calls
from gradsan.observe.graph_snapshot import Look
from gradsan.observe.ledger.budget import Budget
from gradsan.observe.ledger.carrying import carried_over
from gradsan.observe.ledger.gradients import Gradients
from gradsan.observe.ledger.passlines import LineKey, key_of, meet
from gradsan.observe.log.iterations import BEFORE, Repeats
from gradsan.observe.log.lines import Lines
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.notes import Begun
from gradsan.observe.steps import Steps
from gradsan.observe.surroundings import surrounded_by

if TYPE_CHECKING:
    from gradsan.observe.ledger.old_ops import Entry, OldOps

_REMEMBERED = 6  # looks at passes of one line
_ENTRIES = 3  # into what is old, of one pass, each created by another line
_OPS = 4_000  # whose lines are looked up
_MAKERS = 60  # lines that are named


@dataclass(frozen=True, slots=True)
class _Seen:
    calls: Calls
    thread: int
    look: Look

    def is_like(self, note: Begun) -> bool:
        """Whether another pass was asked for by the same calls: a loop has come round."""
        return self.thread == note.thread and self.calls == note.caller.calls


@dataclass(frozen=True, slots=True)
class _Asked:
    """A pass, and who asked for it."""

    note: Begun
    tensors: Sequence[Any]
    frame: FrameType
    lines: Lines


class Staleness:
    """Of a process."""

    def __init__(self, steps: Steps, recorder: LineRecorder, gradients: Gradients, budget: Budget) -> None:
        self._steps = steps
        self._recorder = recorder
        self._gradients = gradients
        self._budget = budget
        self._creates = False  # whether some pass has made a graph of gradients
        self._seen: dict[LineKey, deque[_Seen]] = {}
        self._found: dict[LineKey, dict[Stack, Stale]] = {}  # by the calls that created what is old
        self._pending: tuple[Begun, dict[Stack, Stale]] | None = None  # of the pass that runs

    def pass_begins(self, note: Begun, look: Look, tensors: Sequence[Any], frame: FrameType) -> None:
        """A pass is about to run, and was looked at."""
        calls = note.caller.calls
        known = self._seen.setdefault(key_of(calls), deque(maxlen=_REMEMBERED))
        again = [each.look for each in known if each.is_like(note) and meet(look.walked, each.look.walked)]
        known.append(_Seen(calls, note.thread, look))
        self._creates = self._creates or note.creates
        self._pending = None
        # Each thread counts its ops by itself: where several run, two ops may have the same number.
        if not again or len(self._recorder.pen.journals) > 1 or not self._budget.allows():
            return
        with self._budget:
            lines = self._recorder.lines()
            if lines is not None:
                self._pending = note, self._stale(_Asked(note, tensors, frame, lines), look, again[::-1])

    def pass_ended(self, note: Begun) -> None:
        """It has run, and has not raised: an error would be the whole explanation."""
        if self._pending is not None and self._pending[0] is note:
            self._found.setdefault(key_of(note.caller.calls), {}).update(self._pending[1])

    def facts(self, key: LineKey) -> tuple[Stale, ...]:
        """What the passes of a line walk that is old."""
        return tuple(self._found.get(key, {}).values())

    def _stale(self, asked: _Asked, look: Look, again: Sequence[Look]) -> dict[Stack, Stale]:
        from gradsan.observe.failure.scene import Graph
        from gradsan.observe.ledger.old_ops import old_ops

        lines, graph = asked.lines, Graph(asked.tensors, {})
        old = next((found for each in again if (found := old_ops(graph, look, each)) is not None), None)
        if old is None or (self._creates and not old.is_on_the_processor):
            return {}  # a device has threads of its own, which number the ops of the gradients
        makers = {lines.stack_of(number) for number in islice(old.made_since(), _OPS)}
        by_line: dict[Stack, Entry] = {}
        for entry in old.entries():
            stack = lines.stack_of(graph.number[entry.old])
            if stack:
                by_line.setdefault(stack, entry)
        first = islice(by_line.items(), _ENTRIES)
        return {stack: self._fact(asked, old, entry, is_carried_on=stack in makers) for stack, entry in first}

    def _fact(self, asked: _Asked, old: "OldOps", entry: "Entry", *, is_carried_on: bool) -> Stale:
        number = old.graph.number[entry.old]
        found = self._found.get(key_of(asked.note.caller.calls), {})
        known = found.get(asked.lines.stack_of(number) or ()) or self._named(asked, old, entry)
        owner = next((key for key, each in self._gradients.accounts.items() if each.owned & old.changed), None)
        last = None if owner is None else self._steps.last_of(owner)
        return replace(
            known,
            changed=() if last is None else last.stack,
            updates=0 if owner is None else sum(each > number for each in self._steps.numbers_of(owner)),
            is_carried_on=known.is_carried_on and is_carried_on,
            step=asked.note.step,
            passes=known.passes + 1,
        )

    def _named(self, asked: _Asked, old: "OldOps", entry: "Entry") -> Stale:
        number, lines = old.graph.number[entry.old], asked.lines
        enters = None if entry.new is None else old.graph.number[entry.new]
        carried = carried_over(number, enters, asked.frame, lines, self._recorder.ownership.owns)
        return Stale(
            carried=surrounded_by(carried, asked.note.caller.stack),
            makers=tuple(islice(_makers(old.numbers_below(entry.old), lines), _MAKERS)),
            is_asked_for=enters is None,
            made_in_loop=_is_made_in_loop(number, asked.frame, lines),
            trained_anew=old.trained_anew,
            is_term=old.is_term(entry),
            is_operand=old.is_operand(entry),
        )


def _makers(numbers: Sequence[int], lines: Lines) -> Iterator[Frame]:
    """The lines of the user's, in any call, that took part in creating these ops."""
    found = (frame for number in numbers[:_OPS] for frame in lines.stack_of(number) or ())
    return iter(dict.fromkeys(found))


def _is_made_in_loop(number: int, frame: FrameType, lines: Lines) -> bool:
    """Whether an earlier iteration of a loop that is running created it."""
    loops = (each for each in lines.rounds(frame) if each.kind is Repeats.LOOP)
    return any(BEFORE < (each.round_of(number) or BEFORE) < each.now for each in loops)
