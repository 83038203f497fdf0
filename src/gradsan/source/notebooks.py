"""Notebooks: the code cells as one program, with the cell that every line came from.

Between the cells stands a string that says whose lines follow, so that a changed program can be taken apart again.
"""

import ast
import json
import re
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import Callable, Iterator, Sequence

from gradsan.source.file import Source, UnreadableSourceError, compiles, parse_text, parses, tree_of

_MAGIC = re.compile(r"^([ \t]*+)(?:[%!?]|[\w.]++\?{1,2}[ \t]*+$)", re.MULTILINE)
_OF_PYTHON = re.compile(r"\s*%%(?:time|timeit|capture|gradsan)\b")  # cells that are Python below such a line
_BOUNDARY = '"gradsan: In[{}]"\n'


def parse_notebook(path: str, content: bytes) -> Source:
    """The cells, one after the other; one that is no Python is left out, as a notebook would go on without it."""
    try:
        notebook = json.loads(content)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        codes = [_text(cell) for cell in cells if cell.get("cell_type") == "code"]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        raise UnreadableSourceError("it is not a notebook") from None
    lines: list[str] = []
    starts: list[tuple[int, int]] = []
    typed: dict[int, str] = {}
    for number, code in enumerate(codes, 1):
        lines.append(_BOUNDARY.format(number))
        first = len(lines) + 1
        starts.append((first, number))
        readable = _readable(code).splitlines() or [""]
        typed |= {first + at: line for at, line in enumerate(code.splitlines()) if line != readable[at]}
        lines += [f"{line}\n" for line in readable]
    return parse_text(path, "".join(lines), cells=tuple(starts), typed=typed)


def taken_apart(source: Source, lines: Sequence[str]) -> Iterator[tuple[int, Sequence[str], Sequence[str]]]:
    """Of every cell its number, its lines, and what the changed lines make of them.

    Nothing, where the changed lines do not have the same cells.
    """
    boundaries = [_BOUNDARY.format(number) for _, number in source.cells]
    now = [at for at, line in enumerate(lines, 2) if line in boundaries]
    if [lines[at - 2] for at in now] != boundaries:
        return
    new_ends = [*(at - 2 for at in now[1:]), len(lines)]
    for (number, first, end), new, new_end in zip(_spans(source), now, new_ends, strict=True):
        yield number, source.lines[first - 1 : end], lines[new - 1 : new_end]


def _spans(source: Source) -> Iterator[tuple[int, int, int]]:
    """Of every cell its number, its first line and its last."""
    ends = [*(first - 2 for first, _ in source.cells[1:]), len(source.lines)]
    return ((number, first, end) for (first, number), end in zip(source.cells, ends, strict=True))


def as_program(source: Source, translated: Callable[[str], str]) -> ast.Module:
    """What runs: each line where the reader has it, with Python in the place of magics, as `translated` makes it.

    A cell that is no program all the same raises what the compiler says of it, when its turn comes.
    """
    lines = list(source.lines)
    for number, first, end in _spans(source):
        typed = [source.as_written(line).rstrip("\n") for line in range(first, end + 1)]
        is_plain = source.typed.keys().isdisjoint(range(first, end + 1))
        python = "\n".join(typed) if is_plain else _without_magics(typed, translated)
        if not compiles(python, PyCF_ALLOW_TOP_LEVEL_AWAIT):
            python = f"__import__('builtins').compile({python!r}, {f'{source.path}:In[{number}]'!r}, 'exec')"
        made = python.splitlines()[: len(typed)]
        lines[first - 1 : end] = [f"{line}\n" for line in (*made, *[""] * (len(typed) - len(made)))]
    body = tree_of("".join(lines)).body
    return ast.Module(sorted(body, key=_is_of_the_future, reverse=True), [])  # which may stand in any cell


def _without_magics(typed: Sequence[str], translated: Callable[[str], str]) -> str:
    """The lines of a cell, each in its place; as they are, where that makes no sense of them either."""
    above = next((at for at, line in enumerate(typed) if line.strip()), 0)
    above += _OF_PYTHON.match(typed[above]) is not None
    try:
        return "\n" * above + translated("\n".join(typed[above:]))
    except SyntaxError:
        return "\n".join(typed)


def _is_of_the_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def stored(source: Source, lines: Sequence[str]) -> bytes:
    """Bytes that are read as these lines: of a notebook, the bare cells, for nobody but whoever follows the program."""
    if not source.cells:
        return "".join(lines).encode(source.encoding)
    codes = ["".join(new).removesuffix("\n") for _, _, new in taken_apart(source, lines)]
    return json.dumps({"cells": [{"cell_type": "code", "source": code} for code in codes]}).encode()


def as_typed(source: Source, lines: Sequence[str]) -> list[str]:
    """Lines without their ends, as the reader of the notebook has them: with magics where they were."""
    typed = {source.lines[line - 1].rstrip("\r\n"): text for line, text in source.typed.items()}
    return [typed.get(line, line) for line in lines]


def readable_lines(code: str) -> str:
    """Lines of a cell with something that Python can read in the place of magics."""
    return _MAGIC.sub(r"\1pass  # ", code)


def _text(cell: dict[str, object]) -> str:
    text = cell.get("source", cell.get("input", ""))
    return "".join(map(str, text)) if isinstance(text, list) else str(text)


def _readable(code: str) -> str:
    """A cell without its magics; an empty one of the same length where it is no Python all the same."""
    if code.lstrip().startswith("%%") and not _OF_PYTHON.match(code):
        return "\n" * len(code.splitlines())
    plain = readable_lines(code)
    return plain if parses(plain) else "\n" * len(code.splitlines())
