"""Variables that one statement gives a value: the lines do not say which of them an op has become."""

import ast

from gradsan.facts.culprit import Culprit
from gradsan.facts.incident import Stack
from gradsan.facts.location import Frame
from gradsan.observe.naming.detaching import detached_by
from gradsan.observe.user_statements import function_at, read_at, statements_at
from gradsan.source.stores import spelled, stores, text


def assigned_together(culprit: Culprit, created: Stack, enters: Stack) -> list[Culprit]:
    """What the statement that created the culprit gives a value too, where the later forward reads it beside it.

    `h, c = cell(x, (h, c))`: the lines do not say which of the two an op of the cell has become. What the function
    detaches already is none of them, nor is anything where each name has a value of its own: `a, b = one(x), two(x)`.
    """
    for frame in reversed(created):
        unpacking = [each for each in statements_at(frame) if not _assigns_several(each)]
        together = [text(each.target) for one in unpacking for each in stores(one) if each.value_path]
        if culprit.name in together:
            read = {name for each in enters if each.function == frame.function for name in read_at(each)}
            others = read - _detached_in(frame) - {culprit.name} if culprit.name in read else ()
            return [Culprit(each, culprit.holder) for each in map(str, together) if each in others]
    return []


def _assigns_several(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Tuple)


def _detached_in(frame: Frame) -> set[str]:
    """What a function gives a detached value of its own: `h = h.detach()`."""
    return {spelled(target) for statement in function_at(frame) for target, _ in detached_by(statement)}
