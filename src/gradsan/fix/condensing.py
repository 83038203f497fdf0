"""A file with every function and class left out that an edit has no business in.

Concrete syntax trees are slow to build: a quarter of a second for four hundred lines. An edit concerns one function or
two; the others are shortened to a line each, methods that follow one another to a line together, and every line
remembers where in the file it stands.
"""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradsan.fix.crowding import spread
from gradsan.source.file import Source

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the condensed text, and the lines of the file it stands for."""

    text: str
    first: int  # from 1
    full: tuple[str, ...]  # as the file has them; more than one only where something was left out
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
    """The lines of the file, with all functions and classes shortened in which none of the wanted lines stands."""
    lines: list[Line] = []
    number = 1
    crowded = spread(source)
    for run in _runs(source, wanted):
        first, last = _first_line(run[0]), _last_line(run[-1])
        if first < number:
            continue
        lines += _whole(source, crowded, number, first)
        lines.append(Line(_shortened(source, run), first, source.lines[first - 1 : last]))
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


def _runs(source: Source, wanted: Collection[int]) -> Iterator[list[Definition]]:
    """What is left out, in the order of the file: one definition, or methods with nothing but blank lines between."""
    run: list[Definition] = []
    run_of: ast.AST | None = None
    for owner, each in _unwanted(source.tree, wanted):
        if not _stands_alone(source, each):
            continue
        together = owner is run_of and isinstance(owner, ast.ClassDef) and _follows(source, run[-1], each)
        if run and not together:
            yield run
            run = []
        run.append(each)
        run_of = owner
    if run:
        yield run


def _unwanted(tree: ast.AST, wanted: Collection[int]) -> Iterator[tuple[ast.AST, Definition]]:
    """The outermost definitions without a wanted line, each with what it stands in, in the order of the file."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Definition):
            first, last = _first_line(node), _last_line(node)
            if not any(first <= line <= last for line in wanted):
                yield tree, node
                continue
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _unwanted(node, wanted)


def _first_line(definition: Definition) -> int:
    return min([definition.lineno, *(each.lineno for each in definition.decorator_list)])


def _last_line(definition: Definition) -> int:
    return definition.end_lineno or definition.lineno


def _stands_alone(source: Source, definition: Definition) -> bool:
    """Whether no other statement shares its first or last line, as in `def f(): pass; x = 1`."""
    last = source.lines[_last_line(definition) - 1]
    rest = last.encode()[definition.end_col_offset or 0 :].decode().strip()
    return not rest or rest.startswith("#")


def _follows(source: Source, one: Definition, other: Definition) -> bool:
    return not any(line.strip() for line in source.lines[_last_line(one) : _first_line(other) - 1])


def _shortened(source: Source, run: Sequence[Definition]) -> str:
    """A line with the last one's name, the first one's indentation, and the file's own line end.

    Nobody looks up a method by its bare name, so that one name is enough for all.
    """
    first = source.lines[_first_line(run[0]) - 1]
    indent = first[: len(first) - len(first.lstrip())]
    last = source.lines[_last_line(run[-1]) - 1]
    end = last[len(last.rstrip("\r\n")) :]
    kind = "class {}: ..." if isinstance(run[-1], ast.ClassDef) else "def {}(): ..."
    return indent + kind.format(run[-1].name) + end
