"""How a caller would write what a method calls `self.…`: by following the calls of a stack from the inside out."""

import ast
from collections.abc import Sequence

from gradsan.fix.reading.program import Place
from gradsan.knowledge.libraries import ALIASES
from gradsan.source.names import called_name, calls


def seen_from(places: Sequence[Place | None], name: str) -> str | None:
    """How the outermost of these frames would write what the innermost calls `name`; None where it is not clear."""
    for caller, callee in zip(reversed(places[:-1]), reversed(places[1:]), strict=True):
        if caller is None or callee is None:
            return None
        if not name.startswith("self."):
            return None
        receiver = _receiver(caller, callee.frame.function.rpartition(".")[2])
        if receiver is None:
            return None
        name = receiver + name.removeprefix("self")
    return name


def _receiver(place: Place, method: str) -> str | None:
    """On whose behalf a statement calls a method; a module's `forward` is called by calling the module."""
    found = set()
    for call in calls(place.statement):
        match call.func:
            case ast.Attribute(value=receiver, attr=name) if name == method:
                found.add(place.tree.text(receiver))
            case ast.Name() | ast.Attribute() if method in ("forward", "__call__") and _may_be_a_module(place, call):
                found.add(place.tree.text(call.func))
    return found.pop() if len(found) == 1 else None


def _may_be_a_module(place: Place, call: ast.Call) -> bool:
    """`model(x)` or `self.cell(x)`, but no function of a library, class, or method of a tensor."""
    code = place.tree.text(call.func)
    parts = code.split(".")
    is_own = len(parts) == 1 or parts[0] == "self"
    return is_own and parts[0] not in {*ALIASES, "super"} and called_name(call)[:1].islower() and code.isascii()
