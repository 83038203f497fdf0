"""The forward is run again before the later pass, and backward() goes through the first one all the same."""

import ast
from collections.abc import Iterator

from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.trace import Execution
from gradsan.observe.tried.belief import Case, Ran, is_read_after
from gradsan.source.stores import text


def found(case: Case) -> Iterator[Tried]:
    """What was tried."""
    before = _called(case.creators)
    for ran in case.since_freed():
        sentence = _recomputed(ran, before, case) if ran.at in case.trace.created_ops else None
        if sentence is not None:
            yield case.tried("unused-forward", ran, case.culprit or "", sentence)


def _recomputed(ran: Ran, before: set[str], case: Case) -> str | None:
    """What is said of a statement that computes the old part again, and whose result nobody uses."""
    match ran.statement:
        case ast.Expr(value=ast.Call() as call) if text(call.func) in before and _is_forward(call, ran.at, case):
            return f"`{ast.unparse(call)}` at {ran.where} computes it again, but the result is dropped"
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if text(call.func) in before:
            if not is_read_after(name, ran.at):
                return f"`{name}`, computed again at {ran.where}, is not used: backward() goes through the old one"
    return None


def _called(creators: tuple[Execution, ...]) -> set[str]:
    """What was called to make the old part, as it is written."""
    return {name for creator in creators for call in creator.calls if (name := text(call.func)) is not None}


def _is_forward(call: ast.Call, at: Execution, case: Case) -> bool:
    """Whether a call is there for its result: it runs a module, or what a library computes and was assigned before.

    Another function of the user's may be there for what it does.
    """
    entered = case.entered(call, at)
    if entered is not None:
        return entered.scope.name == "forward"
    created = (statement for creator in case.creators for statement in creator.statements)
    assigned = (each.value for each in created if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call))
    return any(text(each.func) == text(call.func) for each in assigned)
