"""The calls that ask for a pass, as they are written."""

import ast
from collections.abc import Sequence

from gradsan.fix.program import Place
from gradsan.knowledge.effects import may_ask_for_pass
from gradsan.source.names import called_name, calls


def pass_call(statement: ast.AST) -> ast.Call | None:
    """The call that asks for a pass in a statement, where there is one only."""
    found = [each for each in calls(statement) if may_ask_for_pass(called_name(each))]
    return found[0] if len(found) == 1 else None


def asking_call(places: Sequence[Place | None]) -> tuple[Place, ast.Call] | None:
    """The innermost call that can be given an argument: a wrapper that hands its own on is told by its caller."""
    inner: Place | None = None
    for place in reversed(places):
        if place is None:
            return None
        call = pass_call(place.statement) if inner is None else _call_to(place.statement, inner.frame.function)
        if call is None:
            return None
        if all(each.arg is not None for each in call.keywords):
            return place, call
        inner = place
    return None


def _call_to(statement: ast.AST, function: str) -> ast.Call | None:
    """The call of a function in a statement, where there is one only."""
    name = function.rpartition(".")[2]
    found = [each for each in calls(statement) if called_name(each) == name]
    return found[0] if len(found) == 1 else None
