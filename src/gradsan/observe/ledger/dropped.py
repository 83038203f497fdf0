"""Losses that a line made and no pass took, though the passes take others of the same line: read from the log."""

import ast
from collections.abc import Sequence
from functools import lru_cache

from gradsan.facts.course import DroppedLoss
from gradsan.facts.incident import Stack
from gradsan.observe.ledger.noting import uses_of
from gradsan.observe.ledger.spans import end_of, meets
from gradsan.observe.log.lines import Lines
from gradsan.observe.log.loops import Loop, loops_of
from gradsan.observe.naming.selection import last_name
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.notes import PassNote
from gradsan.source.disk import tree_as_run
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


class _Dropped:
    """The first passes of one line, and what its losses' line made before them."""

    def __init__(self, asked: list[PassNote], notes: Sequence[PassNote], lines: Lines) -> None:
        self._asked = asked
        self._notes = [each for each in notes if each.thread == lines.thread]
        roots = tuple(each.losses[0] for each in asked)
        self._trace = Trace(lines, 0, asked[-1].begin, roots)
        self._makers = [stack[-1] if (stack := self._trace.at.get(root)) else None for root in roots]

    def fact(self) -> DroppedLoss | None:
        maker = self._makers[0]
        if maker is None or not maker.statements:
            return None
        wanted = _frames(maker)
        if any(each is None or _frames(each) != wanted for each in self._makers):
            return None
        loop = _loop_left_behind(wanted, self._asked[0].stack)
        name = next((store.name for store in stores(maker.statements[-1]) if store.name and not store.path), None)
        if loop is None or name is None:
            return None
        place, around = loop
        has_own_targets = place == len(wanted) - 1 and _reads_an_item(maker.statements[-1], wanted[-1].file, around)
        preceded = dropped = runs = 0
        takes_last = True
        begin = 0
        for note in self._asked:
            made = self._runs(wanted, begin, note.begin)
            left = [each for each in made if not self._is_taken(each)]
            runs, dropped, preceded = runs + len(made), dropped + len(left), preceded + bool(left)
            takes_last = takes_last and bool(made) and made[-1] not in left
            if not has_own_targets and self._leads_on(left, made, begin, place, around):
                return None
            begin = note.begin
        function = wanted[-1].function
        return DroppedLoss(
            made=wanted,
            name=name,
            passes=len(self._asked),
            preceded=preceded,
            runs=runs,
            dropped=dropped,
            takes_last=takes_last,
            taken=self._asked[0].stack,
            is_chosen=uses_of(name, wanted[-1].file, function, maker.line).is_used_in(around)
            if place == len(wanted) - 1
            else False,
        )

    def _runs(self, wanted: Stack, begin: int, end: int) -> list[Execution]:
        last = wanted[-1]
        return [
            each
            for each in self._trace.executions
            if begin <= each.number < end and each.line == last.line and _frames(each) == wanted and self._made(each)
        ]

    def _made(self, execution: Execution) -> bool:
        return end_of(execution, self._trace) > execution.number

    def _is_taken(self, execution: Execution) -> bool:
        start, stop = execution.number, end_of(execution, self._trace)
        return any(meets(note.walked, start, stop) for note in self._notes)

    def _leads_on(self, left: list[Execution], made: list[Execution], begin: int, place: int, loop: Loop) -> bool:
        """Whether a dropped round made something that a pass took all the same: each round refines the last one's."""
        for each in left:
            here = each.stack[place]
            before = made[made.index(each) - 1].index if each is not made[0] else -1
            for other in here.call.executions:
                is_in_round = before < other.index < each.index and other.number >= begin and other is not here
                if is_in_round and loop.holds(other.line) and not loop.heads(other.line) and self._is_taken(other):
                    return True
        return False


def _frames(execution: Execution) -> Stack:
    return execution.frames()


def _loop_left_behind(made: Stack, asked: Stack) -> tuple[int, Loop] | None:
    """The innermost loop around the making line, or a caller of it, that the pass stands outside of."""
    shared = 0
    while shared < min(len(made), len(asked)) and made[shared].function == asked[shared].function:
        shared += 1
        if made[shared - 1].line != asked[shared - 1].line:
            break
    for place in reversed(range(len(made))):
        frame = made[place]
        for loop in reversed(_loops(frame.file, frame.function, frame.line)):
            if place >= shared or not loop.holds(asked[place].line):
                return place, loop
    return None


def _loops(file: str, function: str, line: int) -> list[Loop]:
    found = (each for first in _first_lines(file, function) for each in loops_of(file, function, first))
    return [each for each in found if each.holds(line)]


def _reads_an_item(statement: ast.stmt, file: str, loop: Loop) -> bool:
    """Whether each iteration has a loss of its own, as for the tokens of a sentence: `criterion(out, target[t])`.

    Where all have the same target, each round refines what the one before has made, and the last loss is what counts.
    """
    rounds = [each for each in _for_loops(file) if each.lineno == loop.header]
    names = {node.id for each in rounds for node in ast.walk(each.target) if isinstance(node, ast.Name)}
    counts = any(isinstance(each.iter, ast.Call) and last_name(each.iter) == "range" for each in rounds)
    for node in ast.walk(statement):
        match node:
            case ast.Subscript(slice=ast.Name(id=name)) if name in names:
                return True
            case ast.Call(args=given) if not counts:
                if any(isinstance(each, ast.Name) and each.id in names for each in given):
                    return True
    return False


@lru_cache(maxsize=64)
def _for_loops(file: str) -> tuple[ast.For, ...]:
    tree = tree_as_run(file)
    if tree is None:
        return ()
    return tuple(each for each in ast.walk(tree) if isinstance(each, ast.For))


@lru_cache(maxsize=256)
def _first_lines(file: str, function: str) -> tuple[int, ...]:
    """Where functions of that name begin, decorators included."""
    name = function.rpartition(".")[2]
    if name == "<module>":
        return (0,)
    tree = tree_as_run(file)
    if tree is None:
        return ()
    return tuple(
        min((node.lineno, *(each.lineno for each in node.decorator_list)))
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
    )
