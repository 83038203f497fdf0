"""What the variables of a loop stand for: items of containers, and under which keys."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.source.tree import For


@dataclass(frozen=True, slots=True)
class Item:
    """One of a container, as the loop writes it."""

    container: ast.expr
    key: ast.expr | None  # None: the loop does not say which item it is


def item_of(loop: For, name: str) -> Item | None:
    """What a variable stands for in each iteration."""
    return next((item for each, item in _items(loop.target, loop.iter, None) if each == name), None)


def _items(target: ast.expr, over: ast.expr, key: ast.expr | None) -> Iterator[tuple[str, Item]]:
    match target, over:
        case ast.Tuple(elts=[ast.Name() as own, ast.Name(id=name)]), ast.Call(
            func=ast.Attribute(value=(ast.Name() | ast.Attribute()) as mapping, attr="items"), args=[]
        ):
            yield name, Item(mapping, own)
        case ast.Tuple(elts=[ast.Name() as index, inner]), ast.Call(
            func=ast.Name(id="enumerate"), args=[given], keywords=[]
        ):
            yield from _items(inner, given, index)
        case ast.Tuple(elts=parts), ast.Call(func=ast.Name(id="zip"), args=together):
            for part, each in zip(parts, together, strict=False):
                yield from _items(part, each, key)
        case ast.Name(id=name), ast.Name() | ast.Attribute():
            yield name, Item(over, key)
