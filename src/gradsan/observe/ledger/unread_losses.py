"""Losses that a function computes and never reads, and that were gone when a pass was asked for: read from the log."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from gradsan.facts.course import LeftOut
from gradsan.facts.incident import Stack
from gradsan.observe.ledger.noting import uses_of
from gradsan.observe.ledger.spans import end_of, meets
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.notes import PassNote
from gradsan.observe.user_statements import statements_at
from gradsan.source.loss_terms import dropped_term, name_of_term
from gradsan.source.scopes import MODULE

_FIRST, _LAST = 2, 4  # passes of a line between which the log is read


def unread_losses(notes: Sequence[PassNote], lines: Lines) -> list[LeftOut]:
    """For each line that asks for passes: what was computed between some of its first ones, and never read."""
    found: dict[Stack, LeftOut] = {}
    own = [each for each in notes if each.thread == lines.thread]
    for first, last in _stretches(own):
        trace = Trace(lines, first.begin, last.begin, ())
        left = [(each, name) for each in trace.executions for name in _unread(each, last.stack)]
        untaken = [(each.frames(), name) for each, name in left if not _is_taken(each, trace, own)]
        for (frames, name), seen in Counter(untaken).items():
            is_sum = any(map(dropped_term, statements_at(frames[-1])))
            found[frames] = LeftOut(
                frames, name, seen, is_read=False, is_used=False, alone=(), sibling=last.stack, is_total=is_sum
            )
    return list(found.values())


def _stretches(notes: Sequence[PassNote]) -> Iterator[tuple[PassNote, PassNote]]:
    by_line: dict[object, dict[int, PassNote]] = {}
    for each in notes:
        if each.line and each.outer is None and each.accumulates:
            by_line.setdefault(each.line, {})[each.step] = each
    for steps in by_line.values():
        if _FIRST in steps and _LAST in steps:
            yield steps[_FIRST], steps[_LAST]


def _unread(execution: Execution, asking: Stack) -> Iterator[str]:
    """The variable to which a statement of a function assigns what nobody reads; what it adds, and stores nowhere."""
    code, scope = execution.call.code, execution.call.scope
    is_asking = (code.file, code.function) == (asking[-1].file, asking[-1].function)
    own = None if scope is None or scope.name == MODULE or is_asking else scope  # what is still there is seen live
    for statement in execution.statements:
        term = dropped_term(statement)
        if term is not None and name_of_term(term):
            yield name_of_term(term)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) if own is not None and name not in own.elsewhere:
                if not uses_of(name, code.file, code.function, execution.line).is_read:
                    yield name


def _is_taken(execution: Execution, trace: Trace, notes: Sequence[PassNote]) -> bool:
    """Whether a pass walked something that it created, or it created nothing."""
    start, stop = execution.number, end_of(execution, trace)
    return stop <= start or any(meets(each.walked, start, stop) for each in notes)
