"""The loops of a source file: `for` and `while`, by the function that they stand in, and comprehensions."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from gradsan.source.disk import tree_as_run
from gradsan.source.file_statements import inner_statements, statements_in

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

MODULE = "<module>"


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop statement. The `else` branch runs after the last iteration and is not part of it."""

    header: int  # line of the `for` or `while`
    body: int  # first line after the header; the header's own line where all stands on one
    last: int  # last line of the body

    def holds(self, line: int) -> bool:
        """Whether a line belongs to the loop, header included."""
        return self.header <= line <= self.last

    def heads(self, line: int) -> bool:
        """Whether a line belongs to the header, which may span several."""
        return self.header <= line < max(self.body, self.header + 1)


@lru_cache(maxsize=512)
def loops_of(file: str, function: str, first: int) -> tuple[Loop, ...]:
    """The loops that stand directly in a function, outer ones first; none where its source cannot be read.

    `function` is the (qualified) name and `first` the first line, decorators included, as a code object has them.
    """
    name = function.rpartition(".")[2]
    key = (MODULE, 0) if name == MODULE else (name, first)
    return tuple(_by_function(file).get(key, ()))


@lru_cache(maxsize=64)
def comprehending(file: str) -> dict[int, int]:
    """The lines of statements over several lines in which a comprehension goes round, with each statement's first."""
    return {
        line: each.lineno
        for each in statements_in(file)
        if each.lineno != each.end_lineno and not hasattr(each, "body")
        if any(isinstance(part, _COMPREHENSIONS) for part in ast.walk(each))
        for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)
    }


@lru_cache(maxsize=64)
def _by_function(file: str) -> dict[tuple[str, int], list[Loop]]:
    tree = tree_as_run(file)
    if tree is None:
        return {}
    found: dict[tuple[str, int], list[Loop]] = {}
    scopes: list[tuple[tuple[str, int], ast.AST]] = [((MODULE, 0), tree)]
    while scopes:
        key, scope = scopes.pop()
        mine = found.setdefault(key, [])
        for node in _inside(scope):
            if isinstance(node, _SCOPES):
                scopes.append(((node.name, _first_line(node)), node))
            elif isinstance(node, _LOOPS):
                mine.append(Loop(node.lineno, node.body[0].lineno, node.body[-1].end_lineno or node.lineno))
        mine.sort(key=lambda loop: (loop.header, -loop.last))
    return found


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """Every statement of a scope, and the scopes directly within, unopened."""
    pending = list(inner_statements(scope))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending.extend(inner_statements(node))


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min((node.lineno, *(each.lineno for each in node.decorator_list)))
