"""Source files as syntax trees. Nothing is imported or executed."""

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


@lru_cache(maxsize=64)
def parsed(file: str) -> ast.Module | None:
    """The tree of a file, which nobody changes; `None` where its source cannot be read."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def statements_in(file: str) -> Iterator[ast.stmt]:
    """Every statement of a file."""
    tree = parsed(file)
    pending = [] if tree is None else list(inner_statements(tree))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt):
            yield node
        pending.extend(inner_statements(node))


def inner_statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements, handlers and cases directly within one, or within a module.

    They are a tenth of a tree. The rest are expressions, and hold none.
    """
    for block in _BLOCKS:
        yield from getattr(node, block, ())
