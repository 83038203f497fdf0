"""A file with every function left out that an edit has no business in.

Concrete syntax trees are slow to build: a quarter of a second for four hundred lines. An edit concerns one function or
two; the others are shortened to a line each, and every line remembers where in the file it stands.
"""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradsan.fix.crowding import spread
from gradsan.fix.source import Source

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the condensed text, and the lines of the file it stands for."""

    text: str
    first: int  # from 1
    full: tuple[str, ...]  # as the file has them; more than one only where a function was left out
    is_piece: bool = False  # of a crowded line: the first piece stands for all of it, the others for nothing

    @property
    def last(self) -> int:
        """The last of the lines it stands for."""
        return self.first + max(len(self.full), 1) - 1

    @property
    def goes_on(self) -> bool:
        """Whether it is the rest of a line that began above it."""
        return not self.full


def condense(source: Source, wanted: Collection[int]) -> tuple[Line, ...]:
    """The lines of the file, with all functions shortened in which none of the wanted lines stands."""
    lines: list[Line] = []
    number = 1
    crowded = spread(source)
    for function in _unwanted(source.tree, wanted):
        first, last = _first_line(function), function.end_lineno or function.lineno
        if first < number or not _stands_alone(source, function):
            continue
        lines += _whole(source, crowded, number, first)
        lines.append(Line(_shortened(source, function), first, source.lines[first - 1 : last]))
        number = last + 1
    lines += _whole(source, crowded, number, len(source.lines) + 1)
    return tuple(lines)


def _whole(source: Source, crowded: Mapping[int, Sequence[str]], first: int, end: int) -> Iterator[Line]:
    for number in range(first, end):
        line = source.lines[number - 1]
        if number not in crowded:
            yield Line(line, number, (line,))
            continue
        for place, piece in enumerate(crowded[number]):
            yield Line(piece, number, (line,) if place == 0 else (), is_piece=True)


def _unwanted(tree: ast.AST, wanted: Collection[int]) -> Iterator[Function]:
    """The outermost functions without a wanted line, in the order of the file."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            span = range(_first_line(node), (node.end_lineno or node.lineno) + 1)
            if not any(line in span for line in wanted):
                yield node
                continue
        if isinstance(node, ast.stmt):
            yield from _unwanted(node, wanted)


def _first_line(function: Function) -> int:
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _stands_alone(source: Source, function: Function) -> bool:
    """Whether no other statement shares its first or last line, as in `def f(): pass; x = 1`."""
    last = source.lines[(function.end_lineno or function.lineno) - 1]
    rest = last.encode()[function.end_col_offset or 0 :].decode().strip()
    return not rest or rest.startswith("#")


def _shortened(source: Source, function: Function) -> str:
    """A line with the function's name and indentation, and the file's own line end."""
    first = source.lines[_first_line(function) - 1]
    indent = first[: len(first) - len(first.lstrip())]
    last = source.lines[(function.end_lineno or function.lineno) - 1]
    end = last[len(last.rstrip("\r\n")) :]
    return f"{indent}def {function.name}(): ...{end}"
