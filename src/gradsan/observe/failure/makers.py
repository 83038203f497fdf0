"""In which rounds of a loop what made an op ran: the line itself, or the one that stored what it had called for."""

import ast

from gradsan.lifecycle.incident import Stack
from gradsan.lifecycle.location import Frame
from gradsan.observe.log.lines import Lines, Unknown
from gradsan.observe.log.rounds import BEFORE, Rounds
from gradsan.observe.naming.source import scope_of
from gradsan.observe.naming.statements import stores


def maker_rounds(number: int, loop: Rounds, lines: Lines) -> set[int]:
    """The rounds in which the maker of an op made ops."""
    stack = lines.stack_of(number)
    if isinstance(stack, Unknown):
        return set()
    *callers, innermost = _from_the_storing(stack, max(loop.depth, 0))
    made = lines.made_by(innermost.file, innermost.line, tuple(callers))
    return {each for start, _ in made if (each := loop.round_of(start)) not in (None, BEFORE)}


def _from_the_storing(stack: Stack, outermost: int) -> Stack:
    """The calls from the innermost one that stores what it is given in an attribute or an item; else the last alone.

    A function may be called for many things, and once for what fills a cache. What is outside of the loop stores
    nothing in its rounds.
    """
    for place in reversed(range(outermost, len(stack))):
        if _stores_for_long(stack[place]):
            return stack[place:]
    return stack[-1:]


def _stores_for_long(frame: Frame) -> bool:
    scope = scope_of(frame.file, frame.function, frame.line)
    statements = () if scope is None else scope.by_line.get(frame.line, ())
    return any(isinstance(each.target, ast.Attribute | ast.Subscript) for one in statements for each in stores(one))
