"""The option of a class that switches a cache on, and the calls that ask for it: `Layer(…, cached=True)`."""

import ast
from collections.abc import Iterable, Iterator

from gradsan.fix.reading.program import Place
from gradsan.source.names import argument, called_name, nodes
from gradsan.source.tree import Function, Tree, same_as


def asking_for_a_cache(place: Place, trees: Iterable[Tree]) -> tuple[str, list[tuple[Tree, ast.Call]]] | None:
    """The option that decides whether a statement is skipped, and all calls of its class that switch it on.

    None where it is not read from an option of the constructor, or nobody writes `True` for it.
    """
    owner = place.frame.function.partition(".")[0]
    constructor = next((each for each in nodes(place.tree.module) if _is_constructor(each, owner, place.tree)), None)
    switches = [each for each in _switches(place) if isinstance(constructor, Function) and _keeps(constructor, each)]
    for switch in switches:
        found = [
            (tree, node)
            for tree in trees
            for node in nodes(tree.module)
            if isinstance(node, ast.Call) and called_name(node) == owner and _is_on(node, switch)
        ]
        if found:
            return switch, found
    return None


def _switches(place: Place) -> Iterator[str]:
    """The attributes without which a statement runs every time: `not self.on` around it, `self.on and …` above it."""
    tree, statement = place.tree, place.statement
    for each in tree.above(statement):
        if isinstance(each, Function):
            break
        match each:
            case ast.If(test=ast.BoolOp(op=ast.Or(), values=values)):
                negated = (
                    one.operand for one in values if isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not)
                )
                yield from (name for value in negated for name in _own_attribute(value))
    block = tree.block(statement)
    for each in block[: block.index(statement)]:
        match each:
            case ast.If(test=ast.BoolOp(op=ast.And(), values=values), body=[*_, ast.Return()]):
                yield from (name for value in values for name in _own_attribute(value))


def _own_attribute(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            yield name


def _is_constructor(node: ast.AST, owner: str, tree: Tree) -> bool:
    around = tree.parent(node) if isinstance(node, Function) and node.name == "__init__" else None
    return isinstance(around, ast.ClassDef) and around.name == owner


def _keeps(constructor: Function, name: str) -> bool:
    """Whether it keeps an argument under its own name, as it is."""
    written = (each for each in constructor.body if isinstance(each, ast.Assign))
    return any(same_as(each.targets[0], f"self.{name}") and same_as(each.value, name) for each in written)


def _is_on(call: ast.Call, switch: str) -> bool:
    given = argument(call, switch)
    return isinstance(given, ast.Constant) and given.value is True
