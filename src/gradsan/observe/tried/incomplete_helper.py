"""A function of the user's detaches what it is given, and passes some kind of container on as it is."""

import ast
from collections.abc import Iterator

from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.detaching import DETACHING
from gradsan.observe.tried.belief import Case
from gradsan.source.scopes import Scope
from gradsan.source.stores import text


def found(case: Case) -> Iterator[Tried]:
    """What was tried."""
    if case.culprit is None:
        return
    whole = case.culprit.partition("[")[0]
    for ran in case.since_freed():
        match ran.statement:
            case ast.Assign(targets=[target], value=ast.Call(args=args) as call) if text(target) == whole:
                entered = case.entered(call, ran.at) if whole in map(text, args) else None
                if entered is not None and _detaches(entered.scope):
                    yield Tried(
                        f"`{ast.unparse(call)}` at {ran.where} detaches some of what it is given, but not all: "
                        f"`{case.culprit}` leads to the old graph after it"
                    )


def _detaches(scope: Scope) -> bool:
    written = (node for line in scope.by_line.values() for each in line for node in ast.walk(each))
    return any(isinstance(node, ast.Attribute) and node.attr in DETACHING for node in written)
