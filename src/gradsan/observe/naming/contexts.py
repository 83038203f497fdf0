"""Whether a statement ran where nothing is recorded: in a `no_grad` block or function, its own or a caller's."""

import ast
from dataclasses import dataclass
from functools import lru_cache

from gradsan.knowledge.effects import does
from gradsan.observe.naming.trace import Execution
from gradsan.source.scopes import Scope, statements_of
from gradsan.source.stores import text


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """What switched recording off."""

    written: str  # `torch.no_grad()`
    at: Execution  # inside of which it was off
    line: int


def unrecorded(execution: Execution) -> Unrecorded | None:
    """The innermost switch around an execution, if it is off."""
    each: Execution | None = execution
    while each is not None:
        scope = each.call.scope
        if scope is not None:
            for is_off, node in _switches(scope, each.line):
                return Unrecorded(_written(node), each, node.lineno) if is_off else None
        each = each.call.parent
    return None


def _switches(scope: Scope, line: int) -> list[tuple[bool, ast.expr]]:
    """The switches around a line of a function, innermost first."""
    blocks = [(first, is_off, node) for first, last, is_off, node in _blocks(scope) if first <= line <= last]
    blocks.sort(key=lambda each: -each[0])
    found = [(is_off, node) for _, is_off, node in blocks]
    for each in scope.decorators:
        is_off = switches(each)
        if is_off is not None:
            found.append((is_off, each))
    return found


@lru_cache(maxsize=4096)
def _blocks(scope: Scope) -> tuple[tuple[int, int, bool, ast.expr], ...]:
    found = []
    for statement in statements_of(scope):
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            for item in statement.items:
                is_off = switches(item.context_expr)
                if is_off is not None:
                    first, last = statement.body[0].lineno, statement.end_lineno or statement.lineno
                    found.append((first, last, is_off, item.context_expr))
    return tuple(found)


def switches(node: ast.expr) -> bool | None:
    """Whether an expression switches recording off (True) or on (False); None: neither."""
    func, args = (node.func, node.args) if isinstance(node, ast.Call) else (node, [])
    name = text(func) or ""
    argument = args[0].value if args and isinstance(args[0], ast.Constant) else None
    if does(name, "stops recording"):
        return argument is not False
    if does(name, "records"):
        return False
    if does(name, "switches recording") and isinstance(argument, bool):
        return not argument
    return None


def _written(node: ast.expr) -> str:
    return ast.unparse(node)
