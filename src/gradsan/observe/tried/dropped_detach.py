"""`h.detach()` as a statement: it returns a new tensor, and nobody takes it."""

import ast
from collections.abc import Iterator

from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.detaching import DETACHING, detached
from gradsan.observe.tried.belief import Case
from gradsan.source.stores import spelled, text
from gradsan.source.tree import COMPREHENSIONS


def found(case: Case) -> Iterator[Tried]:
    """What was tried."""
    for ran in case.since_created():
        if not isinstance(ran.statement, ast.Expr):
            continue
        value = ran.statement.value
        inner = value.elt if isinstance(value, COMPREHENSIONS) and not isinstance(value, ast.DictComp) else value
        target, why = detached(inner), "its result is dropped"
        if isinstance(value, ast.Attribute) and value.attr in DETACHING:
            target, why = value.value, "it is not called, `()` is missing"
        if target is not None and case.concerns(target, ran.at):
            sentence = f"`{ast.unparse(value)}` at {ran.where} has no effect: {why}"
            yield case.tried("dropped-detach", ran, _whole(value) or spelled(target), sentence)


def _whole(value: ast.expr) -> str | None:
    """What a comprehension goes over: `states` of `[each.detach() for each in states]`."""
    return text(value.generators[0].iter) if isinstance(value, COMPREHENSIONS) else None
