"""Terms of a loss without a graph: what is added, followed back to what cut it off from what the loss trains.

That is a call that gave gradients without a graph, or a function that records nothing.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradsan.facts.course import ConstantTerm, CutOff
from gradsan.facts.doubt import LIKELY
from gradsan.observe.graph import Node, is_sum, roots_of, sums_of
from gradsan.observe.graph_snapshot import Snapshot
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.passlines import Asked, Line
from gradsan.observe.ledger.spans import end_of, meets
from gradsan.observe.naming.history_cut import Lost, gradients_behind, switched_off_behind
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.notes import Begun

if TYPE_CHECKING:
    from gradsan.facts.incident import Stack

_SUMS_AT_MOST = 16  # of one loss
_SEARCHED_PASSES = frozenset({2, 3, 4})  # passes of a line, for what functions without a graph have computed


class ConstantTerms:
    """Of a process."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._found: dict[tuple[Any, Any], ConstantTerm] = {}
        self._switched_off: dict[Stack, CutOff] = {}  # by what switched recording off

    def facts(self) -> tuple[ConstantTerm, ...]:
        """All that were found, each once."""
        return tuple(self._found.values())

    def cut_off(self) -> tuple[CutOff, ...]:
        """What functions that record nothing have cut off, likewise."""
        return tuple(self._switched_off.values())

    def pass_begins(self, asked: Asked) -> None:
        """Search a loss for them: one of the first, or where gradients were asked for since the pass before."""
        note, lines = asked.note, self._run.process.recorder.lines()
        giving = [each for each in self._run.lines.lines.values() if _is_of_interest(each, note)]
        is_of_interest = bool(giving) or note.step in _SEARCHED_PASSES
        if lines is None or not is_of_interest or not note.accumulates:
            return
        sums = {each._sequence_nr(): each for each in sums_of(roots_of(asked.tensors))[:_SUMS_AT_MOST]}  # noqa: SLF001 # as in graph.py
        if sums:
            self._run.budget.spend(
                lambda: self._search(note, giving, sums, Trace(lines, note.since, None, tuple(sums)))
            )

    def _search(self, note: Begun, giving: list[Line], sums: dict[int, Node], trace: Trace) -> None:
        stores = Stores(trace)
        outermost = {live[-1]: sums[number] for number, live in sorted(trace.at.items()) if live}
        for at, node in outermost.items():
            for added in (
                each for statement in at.statements for each in _constants(_sum_in(statement), node, at.number)
            ):
                found = gradients_behind(stores, added, at)
                if found is not None and any(_asks_at(line, found.at) for line in giving):
                    self._note(note, at, found)
                elif found is None and note.seen is not None and note.step in _SEARCHED_PASSES:
                    self._note_switch(note.seen, switched_off_behind(stores, added, at), trace)

    def _note_switch(self, seen: Snapshot, found: Lost | None, trace: Trace) -> None:
        """What was given a term of the same loss corrects that one, and is meant."""
        given = None if found is None else found.graph_of
        if found is None or given is None:
            return
        start, stop = given.number, end_of(given, trace)
        if meets(seen.walked, start, stop) and not any(start <= each < stop for each in seen.losses):
            cut, name = found.at.frames(found.line), None if found.binding is None else found.binding.name
            new = CutOff((), "", 0, "no-grad", cut, name, is_term=True, doubt=LIKELY)
            known = self._switched_off.get(cut, new)
            self._switched_off[cut] = replace(known, steps=(known.steps or 0) + 1)

    def _note(self, note: Begun, at: Execution, found: Lost) -> None:
        asked, enters = found.at.frames(found.line), at.frames()
        new = ConstantTerm(None, asked, enters, note.caller.stack, passes=0)
        if found.binding is not None:
            new = replace(new, name=found.binding.name, holder=found.binding.kind)
        known = self._found.get((asked[-1], enters[-1]), new)
        self._found[asked[-1], enters[-1]] = replace(known, passes=(known.passes or 0) + 1)


def _is_of_interest(line: Line, note: Begun) -> bool:
    """Whether it asked for gradients since the pass before, without a graph, that depend on what this pass trains."""
    is_recent = note.since <= line.site.begin <= note.begin
    is_plain = line.kind == "grad" and not line.creating
    return is_recent and is_plain and note.seen is not None and not line.reached.isdisjoint(note.seen.leaves)


def _asks_at(line: Line, at: Execution) -> bool:
    """Whether a line that asks for gradients is the one that ran there."""
    code, number = line.calls[-1]
    is_same = (code.co_filename, code.co_qualname) == (at.call.code.file, at.call.code.function)
    return is_same and any(each.lineno <= number <= (each.end_lineno or 0) for each in at.statements)


def _sum_in(node: ast.stmt | ast.expr | None) -> ast.BinOp | None:
    """The outermost sum that a statement computes, but for what is inside a call."""
    match node:
        case ast.AugAssign(target=ast.expr() as left, op=ast.Add() | ast.Sub() as op, value=right):
            return ast.BinOp(left, op, right)
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return node
        case ast.BinOp(left=left, right=right):
            return _sum_in(right) or _sum_in(left)
        case ast.UnaryOp(operand=value) | ast.Call(func=ast.Attribute(value=value)):
            return _sum_in(value)
        case ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.Return(value=value) | ast.Expr(value=value):
            return _sum_in(value)
    return None


def _constants(node: ast.expr | None, op: Node, start: int) -> Iterator[ast.expr]:
    """The sides of a sum that have no graph, as the op that it made shows; and those of a sum at its sides.

    `start`: the op counter when the statement began.
    """
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right) if is_sum(op):
            if _is_number(left, op, start):
                return
            for side, (below, _) in zip((left, right), op.next_functions, strict=True):
                if below is None:
                    yield side
                else:
                    yield from _constants(side, below, start)


def _is_number(left: ast.expr, op: Node, start: int) -> bool:
    """Whether a number is on the left, which torch adds to the other side: that is then its first operand.

    A constant is one. What a name holds was made before the statement; so what the statement has made itself is the
    other side.
    """
    first = op.next_functions[0][0]
    is_held = isinstance(left, ast.Name | ast.Attribute | ast.Subscript)
    return isinstance(left, ast.Constant) or (is_held and first is not None and bool(first._sequence_nr() >= start))  # noqa: SLF001 # as in graph.py
