"""Whether a statement ran where nothing is recorded: in a `no_grad` block or function, its own or a caller's."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from gradsan.knowledge.effects import does
from gradsan.observe.naming.trace import Execution
from gradsan.source.names import called_name
from gradsan.source.scopes import Scope, statements_of
from gradsan.source.stores import last_line, spelled

_NO_SWITCH = ast.Constant(value=None)


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """What switched recording off."""

    written: str  # `torch.no_grad()`
    at: Execution  # inside of which it was off
    line: int


def unrecorded(execution: Execution, *, is_known: bool = False) -> Unrecorded | None:
    """The innermost switch around an execution, if it is off. `is_known`: nothing was recorded there, so one was."""
    calls = ((each, _switches(each.call.scope, each.line, is_known=is_known)) for each in execution.outwards)
    around = ((switch, each) for each, found in calls for switch in found)
    (is_off, node), at = next(around, ((False, _NO_SWITCH), execution))
    return Unrecorded(ast.unparse(node), at, node.lineno) if is_off else None


def checkpoints(execution: Execution) -> bool:
    """Whether a statement has something run that will run again in the backward pass."""
    return any(does(called_name(call), "checkpoints") for call in execution.calls)


def _switches(scope: Scope | None, line: int, *, is_known: bool) -> Iterator[tuple[bool, ast.expr]]:
    """The switches around a line of a function, innermost first."""
    if scope is not None:
        blocks = [each for each in _blocks(scope) if each[0] <= line <= each[1]]
        switched = [node for _, _, node in sorted(blocks, key=lambda each: -each[0])]
        found = ((switches(node, unknown=is_known or None), node) for node in (*switched, *scope.decorators))
        yield from ((is_off, node) for is_off, node in found if is_off is not None)


@lru_cache(maxsize=4096)
def _blocks(scope: Scope) -> tuple[tuple[int, int, ast.expr], ...]:
    """The first and the last line of each `with` block, and what it enters."""
    blocks = [each for each in statements_of(scope) if isinstance(each, (ast.With, ast.AsyncWith))]
    return tuple((each.body[0].lineno, last_line(each), item.context_expr) for each in blocks for item in each.items)


def switches(node: ast.expr, *, unknown: bool | None = None) -> bool | None:
    """Whether an expression switches recording off (True) or on (False); None: neither.

    `unknown`: the answer where that hangs on a value that it is given.
    """
    func, args = (node.func, node.args) if isinstance(node, ast.Call) else (node, [])
    name = spelled(func)
    argument = args[0].value if args and isinstance(args[0], ast.Constant) else None
    if does(name, "stops recording"):
        return argument is not False
    if does(name, "records"):
        return False
    if does(name, "switches recording"):
        return not argument if isinstance(argument, bool) else unknown
    return None
