"""What statements detach, read from their source."""

import ast
from collections.abc import Iterator

from gradsan.observe.naming.selection import sources
from gradsan.source.stores import Store, spelled, stores, text

DETACHING = frozenset({"detach", "detach_"})  # methods of a tensor


def detached(node: ast.expr) -> ast.expr | None:
    """What `node` detaches: `h` of `h.detach()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="detach")):
            return value
    return None


def detached_by(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement gives a detached value of its own, and what it detaches there: `h = h.detach()`."""
    for store in stores(statement):
        inner = next(map(detached, _given_to(store)), None)
        if inner is not None and spelled(store.target) == text(inner):
            yield store.target, inner


def _given_to(store: Store) -> Iterator[ast.expr]:
    """What is stored, the part of it first that is stored here: `h, c = h.detach(), c`."""
    if store.value is not None:
        parts = sources(store.value, store.value_path) if store.value_path else None
        yield from (part for part, path, _ in parts or () if not path)
        yield store.value
