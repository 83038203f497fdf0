"""Which parts of an expression a value, or a part of it, comes from, as far as the expression alone can say."""

import ast
from collections.abc import Iterator

from gradsan.knowledge.effects import does
from gradsan.knowledge.tensors import operation
from gradsan.source.names import called_name
from gradsan.source.stores import selector
from gradsan.source.unpacking import SOME_ITEM, Path

# A sub-expression, the part of it that is asked for, and the doubt that it is this one.
Source = tuple[ast.expr, Path, float]

HOP = 0.1  # the cost of a step that is certain


def sources(node: ast.expr, path: Path) -> list[Source] | None:  # noqa: PLR0911 # one a kind of expression
    """Where the value of `node` at `path` comes from; `None` where that is for the caller to find out."""
    match node:
        case ast.Subscript(value=value):
            return [(value, (selector(node), *path), HOP)]
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return list(_elements(elements, path))
        case ast.Dict(keys=keys, values=values):
            return list(_entries(keys, values, path))
        case ast.ListComp(elt=value) | ast.SetComp(elt=value) | ast.GeneratorExp(elt=value) | ast.DictComp(value=value):
            return [(value, path[1:], HOP)]
        case ast.IfExp(body=body, orelse=other):
            return [(body, path, HOP), (other, path, HOP)]
        case ast.BoolOp(values=values):
            return [(value, path, HOP) for value in values]
        case ast.Starred(value=value) | ast.Await(value=value) | ast.NamedExpr(value=value):
            return [(value, path, 0.0)]
        case ast.Call():
            return _called(node, path)
    return None


def inputs(node: ast.Call) -> list[ast.expr]:
    """Everything a call is given: its object, or itself where it is one, and its arguments."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return [node.func.value, *given] if isinstance(node.func, ast.Attribute) else [*given, node.func]


def _elements(elements: list[ast.expr], path: Path) -> Iterator[Source]:
    key = path[0][1] if path else None
    has_star = any(isinstance(each, ast.Starred) for each in elements)
    if isinstance(key, int) and not has_star and -len(elements) <= key < len(elements):
        yield elements[key], path[1:], HOP
        return
    for each in elements:
        yield each, path if isinstance(each, ast.Starred) else path[1:], HOP * 2


def _entries(keys: list[ast.expr | None], values: list[ast.expr], path: Path) -> Iterator[Source]:
    wanted = path[0][1] if path else None
    for key, value in zip(keys, values, strict=True):
        if key is None:
            yield value, path, HOP
        elif wanted is None or not isinstance(key, ast.Constant) or key.value == wanted:
            yield value, path[1:], HOP


def _called(node: ast.Call, path: Path) -> list[Source] | None:  # noqa: PLR0911 # one a kind of call
    """Calls of the language's own whose result holds, or is, one of their inputs."""
    name, receiver = called_name(node), node.func.value if isinstance(node.func, ast.Attribute) else None
    if _gives_a_number(name) if receiver is None else _gives_no_graph(name):
        return []
    if receiver is not None and does(name, "takes"):
        return [(receiver, (_key(node), *path), HOP)]
    position = path[1][1] if len(path) > 1 else None
    one: Path = (SOME_ITEM, *path[2:])  # of the pairs that `zip`, `enumerate` and `items` give
    match name, node.args:
        case "zip", args:
            chosen = [args[position]] if isinstance(position, int) and position < len(args) else args
            return [(each, one, HOP) for each in chosen]
        case "enumerate", [first, *_]:
            return [] if position == 0 else [(first, one, HOP)]
        case "items", [] if receiver is not None:
            return [] if position == 0 else [(receiver, one, HOP)]
        case "next", [first, *_]:
            return [(first, (SOME_ITEM, *path), HOP)]
    return [(each, path, HOP) for each in inputs(node)] if does(name, "collects") else None


def _gives_a_number(function: str) -> bool:
    return does(function, "converts") or does(function, "tells")


def _gives_no_graph(method: str) -> bool:
    return operation(method).graph in ("drops", "describes")


def _key(node: ast.Call) -> tuple[str, str | int | None]:
    match node.args:
        case [ast.Constant(value=str() | int() as key), *_]:
            return ("item", key)
    return SOME_ITEM
