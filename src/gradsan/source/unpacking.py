"""Which part of a value each part of a target receives."""

import ast
from collections.abc import Iterator

# One step into a value: the attribute of that name, or the item of that key; `None`: some item, which is not known.
Selector = tuple[str, str | int | None]
Path = tuple[Selector, ...]

SOME_ITEM: Selector = ("item", None)


def unpacked(target: ast.expr, path: Path = ()) -> Iterator[tuple[ast.expr, Path]]:
    """The parts of an assignment's target, each with the part of the value that it receives."""
    match target:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            starred = next((n for n, each in enumerate(elements) if isinstance(each, ast.Starred)), len(elements))
            for position, element in enumerate(elements):
                known = position if position < starred else None
                yield from unpacked(element, (*path, ("item", known)))
        case ast.Starred(value=value):
            yield value, path[:-1]
        case _:
            yield target, path
