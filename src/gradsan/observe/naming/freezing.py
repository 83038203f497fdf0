"""The statement that froze the parameters of modules which then recorded nothing."""

import ast
from collections.abc import Collection

from gradsan.observe.naming.calling import match
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.user_statements import parameters_in
from gradsan.source.names import says_false
from gradsan.source.scopes import statements_of
from gradsan.source.stores import calls, text


def freezing(trace: Trace, idle: Collection[Execution]) -> tuple[Execution, str] | None:
    """The statement that last froze parameters, which may be those of the modules that recorded nothing."""
    called = {part for at in idle for each in at.statements for name in _called(each) for part in name.split(".")}
    for execution in reversed(trace.executions):
        for statement in execution.statements:
            frozen = _frozen(statement, execution, trace)
            if frozen is not None and _may_concern(frozen[0], execution, called):
                return execution, frozen[1]
    return None


def _frozen(statement: ast.stmt, at: Execution, trace: Trace) -> tuple[ast.expr, str] | None:
    """What a statement freezes, and how that is written."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad") as target], value=value):
            return (target.value, f"{text(target)} = False") if _is_false(value, at, trace) else None
    for call in calls(statement):
        match call:
            case ast.Call(func=ast.Attribute(attr="requires_grad_", value=frozen), args=[value]):
                return (frozen, ".requires_grad_(False)") if _is_false(value, at, trace) else None
    return None


def _is_false(value: ast.expr, at: Execution, trace: Trace) -> bool:
    """Whether it is said to be False, here or by who called the function with it."""
    match value:
        case ast.Name(id=name):
            matched = match(at.call, trace.executions)
            given = [] if matched is None else [each for each, _ in matched.given(name, ())]
            return any(map(says_false, given))
    return says_false(value)


def _may_concern(frozen: ast.expr, at: Execution, called: set[str]) -> bool:
    """Whether it is one of the objects that were called, a part of one, or something that came in or went out.

    A plain variable that nobody calls, and that its function keeps to itself, is some tensor of its own.
    """
    scope = at.call.scope
    if not isinstance(frozen, ast.Name) or scope is None or frozen.id in called:
        return True
    return frozen.id in parameters_in(scope) or any(_comes_or_goes(frozen.id, each) for each in statements_of(scope))


def _comes_or_goes(name: str, statement: ast.stmt) -> bool:
    """Whether a statement gives a variable one thing after the other, hands it to a call, keeps it or returns it."""
    places: list[ast.AST] = [each for call in calls(statement) for each in (*call.args, *call.keywords)]
    match statement:
        case ast.For(target=value) | ast.AsyncFor(target=value) | ast.Return(value=ast.expr() as value):
            places.append(value)
        case ast.Assign(value=ast.Name() as value):
            places.append(value)
    return any(name in _whole(place) for place in places)


def _whole(node: ast.AST) -> set[str]:
    """The variables that an expression hands on themselves, and not only something that it reads of them."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Attribute | ast.FormattedValue):
        return set()
    return {each for child in ast.iter_child_nodes(node) for each in _whole(child)}


def _called(statement: ast.stmt) -> list[str]:
    return [name for call in calls(statement) if (name := text(call.func)) is not None]
