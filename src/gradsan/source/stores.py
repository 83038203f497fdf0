"""What a statement reads, calls and stores, read from its source alone."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gradsan.knowledge.effects import does
from gradsan.knowledge.libraries import ALIASES
from gradsan.source.file_statements import statements_in
from gradsan.source.keyed_attributes import as_attribute, keyed
from gradsan.source.names import called_name, given, parameters
from gradsan.source.scopes import Scope, statements_of
from gradsan.source.tree import COMPREHENSIONS, SCOPES
from gradsan.source.unpacking import SOME_ITEM, Path, Selector, unpacked


@dataclass(frozen=True, slots=True)
class Store:
    """What a statement puts where. `name` and `path` say where: `h`, `states["h"]`, an attribute of anything."""

    target: ast.expr  # as written
    name: str | None  # the variable at the root of the target; `None` where the root is an expression
    path: Path  # from that root to what is stored
    value: ast.expr | None  # where the new value comes from; `None`: from nothing that could hold a graph
    value_path: Path  # the part of `value` that is stored
    replaces: bool  # the old value is gone; otherwise it has something more in it
    in_place: bool = False  # the statement may have created the op that the target has now

    @property
    def attribute(self) -> str | None:
        """The last attribute on the path to the target, by which a store is found whatever its object is called."""
        return next((str(key) for kind, key in reversed(self.path) if kind == "attr"), None)

    @property
    def attribute_path(self) -> Path:
        """What follows that attribute."""
        after = next((n for n in range(len(self.path), 0, -1) if self.path[n - 1][0] == "attr"), 0)
        return self.path[after:]


@lru_cache(maxsize=64)
def buffers(file: str) -> frozenset[str]:
    """The names that a file registers as buffers of modules."""
    return frozenset(
        str(call.args[0].value)
        for statement in statements_in(file)
        for call in calls(statement)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "register_buffer"
        if call.args and isinstance(call.args[0], ast.Constant)
    )


@lru_cache(maxsize=64)
def parameter_names(file: str) -> frozenset[str]:
    """The attributes that a file makes parameters of modules: `self.gain = nn.Parameter(…)`."""
    return frozenset(
        store.attribute
        for statement in statements_in(file)
        for store in stores(statement)
        if store.attribute and isinstance(store.value, ast.Call) and called_name(store.value) == "Parameter"
    )


@lru_cache(maxsize=4096)
def assigned(scope: Scope) -> frozenset[str]:
    """The variables of a function's own: its parameters, and what it assigns."""
    found: set[str] = set()
    for statement in statements_of(scope):
        found.update(store.name for store in stores(statement) if store.replaces and not store.path and store.name)
    if scope.arguments is not None:
        found.update(parameters(scope.arguments))
    return frozenset(found) - scope.elsewhere


@lru_cache(maxsize=4096)
def stores(statement: ast.stmt) -> tuple[Store, ...]:
    """Everything a statement stores, in the order in which it does."""
    return tuple(_stores(statement))


@lru_cache(maxsize=4096)
def comprehended(statement: ast.stmt) -> dict[str, tuple[ast.expr, Path]]:
    """The variables of a statement's comprehensions, each with what it runs over."""
    found: dict[str, tuple[ast.expr, Path]] = {}
    for node in parts(statement):
        if isinstance(node, COMPREHENSIONS):
            for each in node.generators:
                for target, path in unpacked(each.target, (SOME_ITEM,)):
                    if isinstance(target, ast.Name):
                        found[target.id] = (each.iter, path)
    return found


@lru_cache(maxsize=4096)
def calls(statement: ast.stmt) -> tuple[ast.Call, ...]:
    """The calls of a statement in the order in which they run."""
    return tuple(node for node in _evaluated(statement) if isinstance(node, ast.Call))


@lru_cache(maxsize=4096)
def loads(statement: ast.stmt) -> tuple[ast.expr, ...]:
    """The names, attributes and items that a statement reads, the longest form of each."""
    found: list[ast.expr] = []
    pending: list[ast.AST] = list(heads(statement))
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.expr) and (attribute := as_attribute(node)):
            found.append(attribute)
        elif isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            found.append(node)
            if isinstance(node, ast.Name):
                continue
        if not isinstance(node, SCOPES):
            pending.extend(ast.iter_child_nodes(node))
    return tuple(found)


def heads(statement: ast.stmt) -> Iterable[ast.expr]:
    """The expressions that run at a statement's own lines, not those of the block below it."""
    handler = _HEADS.get(type(statement))
    return _expressions(statement) if handler is None else handler(statement)


def _expressions(statement: ast.stmt) -> list[ast.expr]:
    return [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.expr)]


def _assigned(statement: ast.Assign) -> list[ast.expr]:
    """What is assigned, and what is written into: `est[0] = 0.5` reads `est`."""
    into = [part for target in statement.targets for part, _ in unpacked(target)]
    return [statement.value, *(part.value for part in into if isinstance(part, ast.Subscript))]


_NOTHING: Callable[[Any], list[ast.expr]] = lambda _: []  # noqa: E731 # a row as the others are
_HEADS: dict[type[ast.stmt], Callable[[Any], list[ast.expr]]] = {
    ast.If: lambda node: [node.test],
    ast.While: lambda node: [node.test],
    ast.For: lambda node: [node.iter],
    ast.AsyncFor: lambda node: [node.iter],
    ast.With: lambda node: [item.context_expr for item in node.items],
    ast.AsyncWith: lambda node: [item.context_expr for item in node.items],
    ast.Match: lambda node: [node.subject],
    ast.FunctionDef: _NOTHING,
    ast.AsyncFunctionDef: _NOTHING,
    ast.ClassDef: _NOTHING,
    ast.AugAssign: lambda node: [node.target, node.value],
    ast.Assign: _assigned,
}


def parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """Every node that runs at a statement's own lines."""
    for head in heads(statement):
        yield from ast.walk(head)


def text(node: ast.expr) -> str | None:
    """A variable as the user wrote it: names, attributes and constant items; `None` for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            owner = text(value)
            return None if owner is None else f"{owner}.{attr}"
        case ast.Subscript(value=value, slice=key):
            owner, constant = text(value), _constant(key)
            if owner is None or constant is None:
                return owner
            return f'{owner}["{constant}"]' if isinstance(constant, str) else f"{owner}[{constant}]"
    return None


def spelled(node: ast.expr) -> str:
    """The same; empty for anything else."""
    return text(node) or ""


def last_line(node: ast.stmt | ast.expr) -> int:
    """Where it ends; what was not parsed has no end of its own."""
    return node.end_lineno or node.lineno


def called_line(call: ast.Call) -> int:
    """Where the called name stands: a chain of calls over several lines begins at its first."""
    return last_line(call.func) if isinstance(call.func, ast.Attribute) else call.lineno


def selector(node: ast.Subscript) -> Selector:
    """The step that `value[slice]` takes."""
    return ("item", _constant(node.slice))


def _constant(node: ast.expr) -> str | int | None:
    match node:
        case ast.Constant(value=str() | int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None


def _evaluated(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement, arguments before their calls."""
    pending: list[tuple[ast.AST, bool]] = [(head, False) for head in reversed(list(heads(statement)))]
    while pending:
        node, is_done = pending.pop()
        if is_done:
            yield node
        elif not isinstance(node, ast.Lambda):
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(list(ast.iter_child_nodes(node))))


def _stores(statement: ast.stmt) -> Iterator[Store]:
    named = (node for node in parts(statement) if isinstance(node, ast.NamedExpr))
    for node in (*named, statement):
        for target, value, path in _BINDINGS.get(type(node), _NO_BINDING)(node):
            yield from _store(target, value, path)
    for call in calls(statement):
        is_alone = isinstance(statement, ast.Expr) and statement.value is call  # its result is dropped
        yield from _mutations(call, is_alone=is_alone)


_Binding = tuple[ast.expr, ast.expr | None, Path]  # a target, and the part of a value that it receives


def _augmented(node: ast.AugAssign) -> list[_Binding]:
    return [(node.target, ast.copy_location(ast.BinOp(left=node.target, op=node.op, right=node.value), node), ())]


def _opened(node: ast.With | ast.AsyncWith) -> list[_Binding]:
    return [(item.optional_vars, item.context_expr, ()) for item in node.items if item.optional_vars is not None]


_NO_BINDING: Callable[[Any], list[_Binding]] = lambda _: []  # noqa: E731 # a row as the others are
_DEFINED: Callable[[Any], list[_Binding]] = lambda node: [(ast.Name(id=node.name), None, ())]  # noqa: E731
_BINDINGS: dict[type[ast.AST], Callable[[Any], list[_Binding]]] = {
    ast.NamedExpr: lambda node: [(node.target, node.value, ())],
    ast.Assign: lambda node: [(target, node.value, ()) for target in node.targets],
    ast.AnnAssign: lambda node: [(node.target, node.value, ())] if node.value else [],
    ast.AugAssign: _augmented,
    ast.For: lambda node: [(node.target, node.iter, (SOME_ITEM,))],
    ast.AsyncFor: lambda node: [(node.target, node.iter, (SOME_ITEM,))],
    ast.With: _opened,
    ast.AsyncWith: _opened,
    ast.FunctionDef: _DEFINED,
    ast.AsyncFunctionDef: _DEFINED,
    ast.ClassDef: _DEFINED,
    ast.Delete: lambda node: [(target, None, ()) for target in node.targets],
}


def _store(target: ast.expr, value: ast.expr | None, value_path: Path = ()) -> Iterator[Store]:
    for each, path in unpacked(target, value_path):
        name, to = _root(each)
        replaces = not isinstance(each, ast.Subscript) or as_attribute(each) is not None
        yield Store(each, name, to, value, path, replaces=replaces, in_place=not replaces)


def _mutations(call: ast.Call, *, is_alone: bool) -> Iterator[Store]:
    """A call that changes its object: `losses.append(loss)`, `buffer.copy_(h)`, `setattr(model, "h", h)`."""
    match call:
        case ast.Call(func=ast.Attribute(value, "register_buffer"), args=[key, new, *_]):
            yield from _store(keyed(value, key), new)
        case ast.Call(func=ast.Name("setattr") | ast.Attribute(attr="__setattr__"), args=[value, key, new]):
            yield from _store(keyed(value, key), new)
        case ast.Call(func=ast.Attribute(value, method)):
            yield from _mutations_of(value, method, given(call), is_alone=is_alone)


def _mutations_of(value: ast.expr, method: str, put: list[ast.expr], *, is_alone: bool) -> Iterator[Store]:
    name, to = _root(value)
    is_in_place = method.endswith("_") and not method.startswith("_")
    spreads = does(method, "spreads")
    if name in ALIASES or not any((is_in_place, spreads, does(method, "stores"), is_alone)):
        return
    path = to if spreads or is_in_place else (*to, SOME_ITEM)
    for each in put or [value] * is_in_place:
        new = each.value if isinstance(each, ast.Starred) else each
        yield Store(value, name, path, new, (), replaces=False, in_place=is_in_place)


def _root(node: ast.expr) -> tuple[str | None, Path]:
    path: list[Selector] = []
    while isinstance(node := as_attribute(node) or node, (ast.Attribute, ast.Subscript)):
        path.append(("attr", node.attr) if isinstance(node, ast.Attribute) else selector(node))
        node = node.value
    return (node.id if isinstance(node, ast.Name) else None), tuple(reversed(path))
