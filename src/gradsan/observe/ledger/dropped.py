"""Losses that a line created and no pass took, though the passes take others of the same line: read from the log."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gradsan.facts.course import DroppedLoss
from gradsan.facts.incident import Stack
from gradsan.observe.ledger.noting import uses_of
from gradsan.observe.ledger.spans import end_of, meets
from gradsan.observe.log.lines import Lines
from gradsan.observe.log.source_loops import Loop
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.notes import PassNote
from gradsan.observe.user_statements import loops_at
from gradsan.source.file_statements import statements_in
from gradsan.source.names import called_name
from gradsan.source.stores import stores

_PASSES = 6  # a line's first passes, of which everything is known


def dropped_losses(notes: Sequence[PassNote], lines: Lines) -> list[DroppedLoss]:
    """For each line that asks for passes, if it takes some losses of a line and leaves others."""
    found = []
    by_line: dict[object, list[PassNote]] = {}
    for note in notes:
        if note.line and note.outer is None and note.accumulates and note.thread == lines.thread:
            by_line.setdefault(note.line, []).append(note)
    for asked in by_line.values():
        first = [each for each in asked[:_PASSES] if each.seen and each.losses]
        if first and first[0].step == 1:
            dropped = _Dropped(first, notes, lines).fact()
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

    def __init__(self, asked: list[PassNote], notes: Sequence[PassNote], lines: Lines) -> None:
        self._asked = asked
        self._notes = [each for each in notes if each.thread == lines.thread]
        roots = tuple(each.losses[0] for each in asked)
        self._trace = Trace(lines, 0, asked[-1].begin, roots)
        self._creators = [stack[-1] if (stack := self._trace.at.get(root)) else None for root in roots]

    def fact(self) -> DroppedLoss | None:
        creator = self._creators[0]
        if creator is None or not creator.statements:
            return None
        wanted = creator.frames()
        loop = _loop_left_behind(wanted, self._asked[0].stack)
        name = next((store.name for store in stores(creator.statements[-1]) if store.name and not store.path), None)
        is_one_line = all(each is not None and each.frames() == wanted for each in self._creators)
        if loop is None or name is None or not is_one_line:
            return None
        place, around = loop
        is_own = place == len(wanted) - 1  # the loop stands around the line itself
        has_own_targets = is_own and _reads_an_item(creator.statements[-1], wanted[-1].file, around)
        counted = list(self._counted(wanted))
        if not has_own_targets and any(self._leads_on(each, place, around) for each in counted):
            return None
        uses = uses_of(name, wanted[-1].file, wanted[-1].function, creator.line)
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

    def _counted(self, wanted: Stack) -> Iterator[_Counted]:
        """For each pass, what the line created since the one before."""
        ends = [each.begin for each in self._asked]
        for begin, end in pairwise((0, *ends)):
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


def _loop_left_behind(created: Stack, asked: Stack) -> tuple[int, Loop] | None:
    """The innermost loop around the making line, or a caller of it, that the pass stands outside of."""
    shared = 0
    while shared < min(len(created), len(asked)) and created[shared].function == asked[shared].function:
        shared += 1
        if created[shared - 1].line != asked[shared - 1].line:
            break
    for place in reversed(range(len(created))):
        frame = created[place]
        for loop in reversed(loops_at(frame)):
            if place >= shared or not loop.holds(asked[place].line):
                return place, loop
    return None


def _reads_an_item(statement: ast.stmt, file: str, loop: Loop) -> bool:
    """Whether each iteration has a loss of its own, as for the tokens of a sentence: `criterion(out, target[t])`.

    Where all have the same target, each iteration refines what the one before has created, and the last loss counts.
    """
    here = (each for each in statements_in(file) if each.lineno == loop.header)
    headers = [each for each in here if isinstance(each, ast.For)]
    names = {node.id for each in headers for node in ast.walk(each.target) if isinstance(node, ast.Name)}
    counts = any(isinstance(each.iter, ast.Call) and called_name(each.iter) == "range" for each in headers)
    for node in ast.walk(statement):
        match node:
            case ast.Subscript(slice=ast.Name(id=name)) if name in names:
                return True
            case ast.Call(args=given) if not counts:
                if any(isinstance(each, ast.Name) and each.id in names for each in given):
                    return True
    return False
