"""Which call of a statement entered a function, and what it gave for each parameter."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from gradsan.knowledge.effects import asks_for_pass as is_pass
from gradsan.knowledge.effects import does
from gradsan.knowledge.libraries import ALIASES
from gradsan.observe.naming.trace import Call, Execution
from gradsan.source.names import called_name
from gradsan.source.scopes import Scope
from gradsan.source.stores import calls
from gradsan.source.unpacking import Path

_BEHIND_OBJECTS = frozenset({"forward", "__call__"})
_EARLIER_AT_MOST = 5_000


@dataclass(frozen=True, slots=True)
class Matched:
    """A call as it is written, and the function that it entered."""

    node: ast.Call
    at: Execution  # what made the call
    scope: Scope

    def given(self, name: str, path: Path) -> Iterator[tuple[ast.expr, Path]]:
        """The caller's expression for a parameter, with the part of it that is asked for."""
        arguments = self.scope.arguments
        if arguments is None:
            return
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        is_method = self.scope.owner is not None and not self.scope.is_static
        keywords = {each.arg: each.value for each in self.node.keywords}
        if is_method and names[:1] == [name]:
            yield self._receiver(), path
        elif name in keywords:
            yield keywords[name], path
        elif name in names:
            yield from self._at(names.index(name) - is_method, path)
        elif name == getattr(arguments.vararg, "arg", None):
            yield from self._from(len(names) - is_method, path)
        elif name == getattr(arguments.kwarg, "arg", None):
            key = path[0][1] if path else None
            for each in self.node.keywords:
                if key is None or each.arg in {None, key}:
                    yield each.value, path if each.arg is None else path[1:]

    def _receiver(self) -> ast.expr:
        func = self.node.func
        return func.value if isinstance(func, ast.Attribute) and self.scope.name not in _BEHIND_OBJECTS else func

    def _from(self, first: int, path: Path) -> Iterator[tuple[ast.expr, Path]]:
        key = path[0][1] if path else None
        if isinstance(key, int):
            yield from self._at(first + key, path[1:])
            return
        for each in self.node.args[first:]:
            yield each, path if isinstance(each, ast.Starred) else path[1:]

    def _at(self, position: int, path: Path) -> Iterator[tuple[ast.expr, Path]]:
        for index, each in enumerate(self.node.args):
            if isinstance(each, ast.Starred):
                yield each.value, (("item", position - index), *path)
                return
            if index == position:
                yield each, path
                return
        for keyword in self.node.keywords:
            if keyword.arg is None:
                yield keyword.value, (("item", None), *path)


def match(call: Call, executions: Sequence[Execution]) -> Matched | None:
    """The call in the source that entered this one; `None` where a library did, or where several could have."""
    scope, parent = call.scope, call.parent
    if scope is None or parent is None:
        return None
    named = [each for each in parent.calls if is_named(each, scope)]
    if named:
        alike = [each for each in parent.called if each.scope is scope]
        nth = alike.index(call) if call in alike else 0
        return Matched(named[min(nth, len(named) - 1)], parent, scope)
    if scope.name in _BEHIND_OBJECTS:
        node = _object_called(call, parent, scope)
        return None if node is None else Matched(node, parent, scope)
    return _created_before(parent, scope, executions) if scope.is_generator else None


def _created_before(asking: Execution, scope: Scope, executions: Sequence[Execution]) -> Matched | None:
    """A generator is created by one statement, and asked by another."""
    earlier = reversed(executions[max(asking.index - _EARLIER_AT_MOST, 0) : asking.index])
    written = ((node, each) for each in earlier for node in each.calls)
    return next((Matched(node, each, scope) for node, each in written if is_named(node, scope)), None)


@lru_cache(maxsize=4096)
def asks_for_pass(statement: ast.stmt) -> bool:
    """Whether a statement calls for a backward pass, by the names it uses."""
    return any(is_pass(called_name(call)) for call in calls(statement))


def is_named(node: ast.Call, scope: Scope) -> bool:
    """Whether a call bears the name of a function, or of the class that it constructs."""
    return called_name(node) == (scope.owner if scope.name == "__init__" else scope.name)


def _object_called(call: Call, parent: Execution, scope: Scope) -> ast.Call | None:
    """`model(x)` enters `forward`: the calls of objects that fit, in the order of evaluation."""
    fitting = [each for each in parent.calls if not is_library(each) and _fits(each, scope)]
    objects = [each for each in parent.called if each.scope is not None and each.scope.name in _BEHIND_OBJECTS]
    alike = [each for each in objects if each.scope is scope]
    entered = objects if len(objects) == len(fitting) else alike  # some are a library's, as `nn.Sequential`
    return fitting[entered.index(call)] if call in entered and len(entered) <= len(fitting) else None


def is_library(node: ast.Call) -> bool:
    """Whether a call is one of a library's functions or of a tensor's methods, by its name; else it is an object's.

    Functions of Python's that operate on tensors count as a library's: `sum(losses)` is no module that is called.
    """
    root: ast.expr = node.func
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if isinstance(root, ast.Name) and root.id in ALIASES:
        return True
    match node.func:
        case ast.Attribute(value=ast.Name(id="self")):
            return False
        case ast.Attribute(value=ast.Name() | ast.Attribute(), attr=attr):
            return attr in _tensor_methods()  # `scores.mean(0)` is no module that is called
        case ast.Attribute():
            return True
        case ast.Name(id=name):
            return does(name, "operates")
    return False


@cache
def _tensor_methods() -> frozenset[str]:
    import torch

    return frozenset(dir(torch.Tensor))


def _fits(node: ast.Call, scope: Scope) -> bool:
    arguments = scope.arguments
    if arguments is None:
        return False
    most = len(arguments.posonlyargs) + len(arguments.args) - 1
    least = most - len(arguments.defaults)
    if any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in node.keywords):
        return True
    given = len(node.args) + len(node.keywords)
    most += len(arguments.kwonlyargs)
    return least <= given and (given <= most or arguments.vararg is not None or arguments.kwarg is not None)
