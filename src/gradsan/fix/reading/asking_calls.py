"""The calls that ask for a pass, as they are written."""

import ast
from collections.abc import Sequence

from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place
from gradsan.knowledge.effects import may_ask_for_pass
from gradsan.source.names import called_name, calls, nodes


def pass_call(statement: ast.AST) -> ast.Call | None:
    """The call that asks for a pass in a statement, where there is one only."""
    found = [each for each in calls(statement) if may_ask_for_pass(called_name(each))]
    return found[0] if len(found) == 1 else None


def asking_call(places: Sequence[Place | None]) -> tuple[Place, ast.Call] | None:
    """The innermost call, where it can be given an argument: not one that hands on what its function was given."""
    place = places[-1] if places else None
    call = None if place is None else _of_its_frame(place)
    if place is None or call is None or any(each.arg is None for each in call.keywords):
        return None
    return place, call


def _of_its_frame(place: Place) -> ast.Call | None:
    """What the frame itself asks: a lambda's call stands in the statement that writes the lambda down."""
    if not place.function.endswith("<lambda>"):
        return pass_call(place.statement)
    inner = [each.body for each in only(ast.Lambda, nodes(place.statement))]
    found = list(dict.fromkeys(filter(None, map(pass_call, inner))))
    return found[0] if len(found) == 1 else None
