"""In which iterations of a loop what created an op ran: the line itself, or the one that stored what it called for."""

import ast
from collections.abc import Iterable

from gradsan.facts.incident import Stack
from gradsan.facts.location import Frame
from gradsan.observe.log.iterations import BEFORE, Iterations, Repeats
from gradsan.observe.log.lines import Lines, Unknown
from gradsan.observe.log.sites import Kind
from gradsan.observe.user_statements import statements_at
from gradsan.source.stores import stores

_BLOCKS = 12  # of the log, that are read for one iteration


def creator_iterations(number: int, loop: Iterations, lines: Lines) -> set[int]:
    """The iterations in which the creator of an op created ops."""
    stack = lines.stack_of(number)
    if isinstance(stack, Unknown):
        return set()
    *callers, innermost = _from_the_storing(stack, max(loop.depth, 0))
    created = lines.created_by(innermost.file, innermost.line, tuple(callers))
    return {each for start, _ in created if (each := loop.iteration_of(start)) not in (None, BEFORE)}


def goes_over_functions(number: int, loop: Iterations, lines: Lines, path: Iterable[int]) -> bool:
    """Whether a line of the loop called one function in the iteration that created an op, and calls another now.

    Such a loop goes over callbacks, or over the parts of a step: its iterations are no steps. `path`: ops on the path
    to it. An iteration of the log is read twice at most, however long the path is.
    """
    born, depth, created = loop.iteration_of(number), loop.depth, lines.stack_of(number)
    if loop.kind is not Repeats.LOOP or not born or isinstance(created, Unknown) or len(created) <= depth + 1:
        return False
    ours = _called_from(created[depth], depth, (each for each in path if loop.iteration_of(each) == loop.now), lines)
    if not ours or _function(created[depth + 1]) in _entered(loop, loop.now, lines):
        return False
    return not ours <= _entered(loop, born, lines)


def _called_from(line: Frame, depth: int, ops: Iterable[int], lines: Lines) -> set[tuple[str, str]]:
    """The functions that a line called for some ops; `depth`: of the call that the line stands in."""
    stacks = (stack for each in ops if (stack := lines.stack_of(each)))
    return {_function(stack[depth + 1]) for stack in stacks if stack[depth:-1] and stack[depth] == line}


def _function(frame: Frame) -> tuple[str, str]:
    return frame.file, frame.function


def _entered(loop: Iterations, ordinal: int, lines: Lines) -> set[tuple[str, str]]:
    """The functions that an iteration called, each as file and name."""
    start, stop = loop.start_of(ordinal), loop.start_of(ordinal + 1)
    if start is None:
        return set()
    return {
        (code.file, code.function)
        for stretch in lines.replay(start, stop, blocks=_BLOCKS)
        for (kind, code, _), number, _ in stretch.events
        if kind is Kind.ENTER and start <= number and (stop is None or number < stop)
    }


def _from_the_storing(stack: Stack, outermost: int) -> Stack:
    """The calls from the innermost one that stores what it is given in an attribute or an item; else the last alone.

    A function may be called for many things, and once for what fills a cache. What is outside of the loop stores
    nothing in its iterations.
    """
    for place in reversed(range(outermost, len(stack))):
        if _stores_for_long(stack[place]):
            return stack[place:]
    return stack[-1:]


def _stores_for_long(frame: Frame) -> bool:
    stored = (each.target for one in statements_at(frame) for each in stores(one))
    return any(isinstance(each, ast.Attribute | ast.Subscript) for each in stored)
