"""The calls that ask for a pass, as they are written."""

from collections.abc import Sequence

import libcst as cst

from gradsan.fix.calls import asks_for_pass, called_name
from gradsan.fix.expressions import nodes
from gradsan.fix.program import Place


def pass_call(statement: cst.CSTNode) -> cst.Call | None:
    """The call that asks for a pass in a statement, where there is one only."""
    calls = [each for each in nodes(statement, into_functions=False) if isinstance(each, cst.Call)]
    found = [each for each in calls if asks_for_pass(each)]
    return found[0] if len(found) == 1 else None


def asking_call(places: Sequence[Place | None]) -> tuple[Place, cst.Call] | None:
    """The innermost call that can be given an argument: a wrapper that hands its own on is told by its caller."""
    inner: Place | None = None
    for place in reversed(places):
        if place is None:
            return None
        call = pass_call(place.statement) if inner is None else _call_to(place.statement, inner.frame.function)
        if call is None:
            return None
        if not any(each.star == "**" for each in call.args):
            return place, call
        inner = place
    return None


def _call_to(statement: cst.CSTNode, function: str) -> cst.Call | None:
    """The call of a function in a statement, where there is one only."""
    name = function.rpartition(".")[2]
    calls = [each for each in nodes(statement, into_functions=False) if isinstance(each, cst.Call)]
    found = [each for each in calls if called_name(each) == name]
    return found[0] if len(found) == 1 else None
