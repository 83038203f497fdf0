"""Which call of a statement entered a function, and what it gave for each parameter."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from gradsan.knowledge.effects import asks_for_pass as is_pass
from gradsan.knowledge.effects import does
from gradsan.knowledge.libraries import ALIASES
from gradsan.observe.naming.selection import last_name
from gradsan.observe.naming.trace import Call, Execution
from gradsan.source.scopes import Scope
from gradsan.source.stores import Path, calls

_TELLING = 3  # letters of a name that are no accident
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
        keyword = next((each.value for each in self.node.keywords if each.arg == name), None)
        if is_method and names[:1] == [name]:
            yield self._receiver(), path
        elif keyword is not None:
            yield keyword, path
        elif name in names:
            yield from self._at(names.index(name) - is_method, path)
        elif arguments.vararg is not None and arguments.vararg.arg == name:
            yield from self._from(len(names) - is_method, path)
        elif arguments.kwarg is not None and arguments.kwarg.arg == name:
            for each in self.node.keywords:
                if each.arg is None or not path or path[0][1] in {None, each.arg}:
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
    written = [each for statement in parent.statements for each in calls(statement)]
    named = [each for each in written if is_named(each, scope)]
    earlier = [each for each in parent.called if each.scope is scope]
    if named:
        nth = earlier.index(call) if call in earlier else 0
        return Matched(named[min(nth, len(named) - 1)], parent, scope)
    if scope.name in _BEHIND_OBJECTS:
        node = _object_called(call, written)
        return None if node is None else Matched(node, parent, scope)
    if scope.is_generator:  # made by one statement, asked by another
        for execution in reversed(executions[max(parent.index - _EARLIER_AT_MOST, 0) : parent.index]):
            for statement in execution.statements:
                for each in calls(statement):
                    if is_named(each, scope):
                        return Matched(each, execution, scope)
    return None


@lru_cache(maxsize=4096)
def asks_for_pass(statement: ast.stmt) -> bool:
    """Whether a statement calls for a backward pass, by the names it uses."""
    return any(is_pass(last_name(call)) for call in calls(statement))


def is_named(node: ast.Call, scope: Scope) -> bool:
    """Whether a call bears the name of a function, or of the class that it constructs."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
    return name == (scope.owner if scope.name == "__init__" else scope.name)


def _object_called(call: Call, written: list[ast.Call]) -> ast.Call | None:
    """`model(x)` enters `forward`: the first call of an object, in the order of evaluation, that fits."""
    parent, scope = call.parent, call.scope
    if parent is None or scope is None or scope.arguments is None:
        return None
    fitting = [each for each in written if not is_library(each) and _fits(each, scope)]
    objects = [each for each in parent.called if each.scope is not None and each.scope.name in _BEHIND_OBJECTS]
    alike = [each for each in objects if each.scope is scope]
    if not fitting or call not in alike:
        return None
    if len(fitting) == 1:
        return fitting[0] if len(alike) == 1 else None
    if len(fitting) == len(objects):
        return fitting[objects.index(call)]
    # Some of them are a library's, as `nn.Sequential`; an object is often called after its class.
    alikes = [each for each in fitting if _is_called_after(each, scope.owner or "")]
    if len(alikes) == len(alike):
        return alikes[alike.index(call)]
    return fitting[alike.index(call)] if len(alike) <= len(fitting) else None


def _is_called_after(node: ast.Call, owner: str) -> bool:
    """Whether an object's name has that of its class in it, or the other way round: `smooth` for a `Smoother`."""
    name = (last_name(node) or "").replace("_", "").lower()
    return len(name) >= _TELLING and (name in owner.lower() or owner.lower() in name)


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
