"""Losses that a line created and no pass took, though the passes take others of the same line: read from the log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gradsan.facts.course import DroppedLoss
from gradsan.facts.incident import Stack
from gradsan.observe.ledger.loss_loops import loop_left_behind, reads_an_item, waits_for_a_counter
from gradsan.observe.ledger.noting import uses_of
from gradsan.observe.ledger.spans import end_of, meets
from gradsan.observe.log.lines import Lines
from gradsan.observe.log.source_loops import Loop
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.notes import PassNote
from gradsan.observe.user_statements import loops_at
from gradsan.source.stores import stores

_PASSES = 6  # a line's first passes, of which everything is known


def dropped_losses(notes: Sequence[PassNote], lines: Lines, since: int = 0) -> list[DroppedLoss]:
    """For each line that asks for passes, if it takes some losses of a line and leaves others.

    `since`: the op counter when that began to be noted.
    """
    found = []
    by_line: dict[object, list[PassNote]] = {}
    for note in notes:
        if note.line and note.outer is None and note.accumulates and note.thread == lines.thread:
            by_line.setdefault(note.line, []).append(note)
    for asked in by_line.values():
        first = [each for each in asked[:_PASSES] if each.seen and each.losses]
        if first and first[0].step == 1:
            dropped = _Dropped(first, notes, lines, since).fact()
            found += [] if dropped is None else [dropped]
    return found


@dataclass(frozen=True, slots=True)
class _Counted:
    """What a line created between two passes."""

    begin: int  # the op counter at the earlier pass
    runs: list[Execution]
    left: list[Execution]  # those of them that no pass took


class _Dropped:
    """The first passes of one line, and what its losses' line created before them."""

    def __init__(self, asked: list[PassNote], notes: Sequence[PassNote], lines: Lines, since: int) -> None:
        self._asked = asked
        self._since = since
        self._notes = [each for each in notes if each.thread == lines.thread]
        roots = tuple(each.losses[0] for each in asked)
        self._trace = Trace(lines, since, asked[-1].begin, roots)
        self._creators = [stack[-1] if (stack := self._trace.at.get(root)) else None for root in roots]

    def fact(self) -> DroppedLoss | None:
        creator = self._creators[0]
        if creator is None or not creator.statements:
            return None
        wanted = creator.frames()
        loop = loop_left_behind(wanted, self._asked[0].stack)
        waits = loop is None
        if waits:
            loop = self._loop_that_waits(wanted)
        name = next((store.name for store in stores(creator.statements[-1]) if store.name and not store.path), None)
        is_one_line = all(each is not None and each.frames() == wanted for each in self._creators)
        if loop is None or name is None or not is_one_line:
            return None
        place, around = loop
        is_own = place == len(wanted) - 1  # the loop stands around the line itself
        has_own_targets = is_own and not waits and reads_an_item(creator.statements[-1], wanted[-1].file, around)
        counted = list(self._counted(wanted))
        if not has_own_targets and any(self._leads_on(each, place, around) for each in counted):
            return None
        uses = uses_of(name, wanted[-1].file, wanted[-1].function, creator.line)
        if waits:
            uses = uses.but_for(self._asked[0].stack[-1].line)
        return DroppedLoss(
            made=wanted,
            name=name,
            passes=len(self._asked),
            preceded=sum(bool(each.left) for each in counted),
            runs=sum(len(each.runs) for each in counted),
            dropped=sum(len(each.left) for each in counted),
            takes_last=all(each.runs and each.runs[-1] not in each.left for each in counted),
            taken=self._asked[0].stack,
            is_chosen=is_own and uses.is_used_in(around),
        )

    def _loop_that_waits(self, wanted: Stack) -> tuple[int, Loop] | None:
        """The loop around the making line and the pass, if that has to wait for a counter, and nothing runs meanwhile.

        As where gradients were to be accumulated: `if step % 4 == 0: loss.backward()`.
        """
        asking = self._asked[0].stack
        if (wanted[-1].file, wanted[-1].function) != (asking[-1].file, asking[-1].function):
            return None
        loops = [each for each in loops_at(wanted[-1]) if each.holds(asking[-1].line)]
        is_other = any(each.line != self._asked[0].line for each in self._notes[: self._notes.index(self._asked[-1])])
        if not loops or is_other or not waits_for_a_counter(asking[-1], wanted[-1].line):
            return None
        return len(wanted) - 1, loops[-1]

    def _counted(self, wanted: Stack) -> Iterator[_Counted]:
        """For each pass, what the line created since the one before."""
        ends = [each.begin for each in self._asked]
        for begin, end in pairwise((self._since, *ends)):
            runs = self._runs(wanted, begin, end)
            yield _Counted(begin, runs, [each for each in runs if not self._is_taken(each)])

    def _runs(self, wanted: Stack, begin: int, end: int) -> list[Execution]:
        last = wanted[-1]
        return [
            each
            for each in self._trace.executions
            if begin <= each.number < end
            and each.line == last.line
            and each.frames() == wanted
            and self._created_ops(each)
        ]

    def _created_ops(self, execution: Execution) -> bool:
        return end_of(execution, self._trace) > execution.number

    def _is_taken(self, execution: Execution) -> bool:
        start, stop = execution.number, end_of(execution, self._trace)
        return any(meets(note.walked, start, stop) for note in self._notes)

    def _leads_on(self, counted: _Counted, place: int, loop: Loop) -> bool:
        """Whether an iteration without its loss created something that a pass took: each refines the last one's."""
        ends = [-1, *(each.index for each in counted.runs)]
        for before, each in zip(ends, counted.runs, strict=False):
            here = each.stack[place]
            inside = (other for other in here.call.executions if before < other.index < each.index)
            others = (other for other in inside if other.number >= counted.begin and other is not here)
            within = (other for other in others if loop.holds(other.line) and not loop.heads(other.line))
            if each in counted.left and any(map(self._is_taken, within)):
                return True
        return False
