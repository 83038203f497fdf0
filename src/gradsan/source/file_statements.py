"""The statements of a file: a tenth of its tree. The rest are expressions, and hold none."""

import ast
from collections import deque
from collections.abc import Iterator

from gradsan.source.disk import tree_as_run

_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")  # in the order of the file


def statements_in(file: str) -> Iterator[ast.stmt]:
    """Every statement of a file as Python ran it."""
    tree = tree_as_run(file)
    return iter(()) if tree is None else every_statement(tree)


def every_statement(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements within one, or within a module, outer before inner."""
    pending = deque(inner_statements(node))
    while pending:
        inner = pending.popleft()
        if isinstance(inner, ast.stmt):
            yield inner
        pending.extend(inner_statements(inner))


def inner_statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements, handlers and cases directly within one, or within a module."""
    for block in _BLOCKS:
        yield from getattr(node, block, ())
