"""Whether the user's source bounds a holder, however slowly it fills: what is taken out, or replaced."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from gradsan.knowledge.effects import does
from gradsan.source.disk import tree_as_run

_ONCE = 1  # a holder is made empty before it is used; made empty again, it is emptied


def is_trimmed(name: str, files: Iterable[str]) -> bool:
    """Whether some statement takes something out of what is called so, or begins it again."""
    plain = name.partition("[")[0].rpartition(".")[2]
    times = sum((_trimmed(file)[plain] for file in files), 0)
    return times > _ONCE


@lru_cache(maxsize=64)
def _trimmed(file: str) -> Counter[str]:
    """How often each name is made smaller, or begun."""
    tree = tree_as_run(file)
    if tree is None:
        return Counter()
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        for each, weight in _shrinks(node):
            found[each] += weight
    return found


def _shrinks(node: ast.AST) -> Iterator[tuple[str, int]]:
    match node:
        case ast.Call(func=ast.Attribute(attr=method, value=held)) if does(method, "shrinks"):
            yield _plain(held), 1 + _ONCE
        case ast.Delete(targets=targets):
            yield from ((_plain(each), 1 + _ONCE) for each in targets)
        case ast.Assign(targets=targets, value=value):
            begins = not any(isinstance(each, ast.Name | ast.Attribute) for each in ast.walk(value))
            cuts = isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice)
            weight = 1 + _ONCE if cuts else int(begins)
            yield from ((_plain(each), weight) for each in targets if weight)
            # What is put under a key may be put there again.
            yield from ((_plain(each), 1 + _ONCE) for each in targets if isinstance(each, ast.Subscript))


def _plain(held: ast.expr) -> str:
    while isinstance(held, ast.Subscript):
        held = held.value
    match held:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
