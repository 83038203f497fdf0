"""The code cells of a notebook where they stand in its file, so that lines of one change and no other byte does."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradsan.source.file import Source
from gradsan.source.notebooks import as_typed, taken_apart

_BLANK = re.compile(r"[ \t\r\n]*")
_VALUE = json.JSONDecoder()
Spans = dict[str, tuple[int, int]]


class UnusualNotebookError(Exception):
    """Cells that are not written as Jupyter, Colab and VS Code write them."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a cell, as a JSON string of its own."""

    start: int
    end: int  # behind the closing quote
    text: str  # with its line end


def with_program(content: bytes, source: Source, lines: Sequence[str]) -> bytes:
    """The notebook with these lines as its program: only lines that differ are written."""
    changed = {
        number: as_typed(source, [line.rstrip("\r\n") for line in new])
        for number, old, new in taken_apart(source, lines)
        if new != old
    }
    return with_cells(content, changed)


def with_cells(content: bytes, changed: Mapping[int, Sequence[str]]) -> bytes:
    """The notebook with other lines in some of its code cells, by number from 1; the lines have no ends."""
    text = content.decode("utf-8")
    cells = list(_code_cells(text))
    for number in sorted(changed, reverse=True):
        text = _with_lines(text, cells[number - 1], changed[number])
    return text.encode("utf-8")


def _with_lines(text: str, source: tuple[int, int], lines: Sequence[str]) -> str:
    ended = [f"{line}\n" for line in lines]
    if text[source[0]] == '"':
        ended[-1] = lines[-1] if not json.loads(text[slice(*source)]).endswith("\n") else ended[-1]
        return text[: source[0]] + _written("".join(ended), text) + text[source[1] :]
    old = list(_lines(text, source[0]))
    if not old:
        raise UnusualNotebookError("a cell is empty")
    if not old[-1].text.endswith("\n"):
        ended[-1] = lines[-1]
    same = _shared([each.text for each in old], ended)
    tail = min(_shared([each.text for each in old[::-1]], ended[::-1]), min(len(old), len(ended)) - same)
    between = text[old[0].end : old[1].start] if len(old) > 1 else f",{text[source[0] + 1 : old[0].start] or ' '}"
    kept = [text[each.start : each.end] for each in old]
    middle = [_written(each, text) for each in ended[same : len(ended) - tail]]
    whole = between.join([*kept[:same], *middle, *kept[len(kept) - tail :]])
    return text[: old[0].start] + whole + text[old[-1].end :]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines at the beginning are equal."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (ours, theirs) in enumerate(pairs) if ours != theirs), min(len(one), len(other)))


def _written(line: str, notebook: str) -> str:
    """A line as JSON, beyond ASCII as the rest of the notebook has it."""
    return json.dumps(line, ensure_ascii=notebook.isascii())


def _lines(text: str, at: int) -> Iterator[_Line]:
    for start, end in _elements(text, at):
        value = _VALUE.raw_decode(text, start)[0]
        if not isinstance(value, str) or "\n" in value[:-1]:
            raise UnusualNotebookError("its cells are not stored line by line")
        yield _Line(start, end, value)


def _code_cells(text: str) -> Iterator[tuple[int, int]]:
    """Where the source of every code cell stands."""
    notebook = _members(text, _after_blanks(text, 0))
    if "cells" not in notebook:  # the third format
        notebook = _members(text, next(_elements(text, notebook["worksheets"][0]))[0])
    for start, _ in _elements(text, notebook["cells"][0]):
        cell = _members(text, start)
        if _value(text, cell.get("cell_type")) == "code":
            yield cell["source"] if "source" in cell else cell["input"]


def _value(text: str, span: tuple[int, int] | None) -> Any:  # noqa: ANN401 # whatever JSON has
    return None if span is None else _VALUE.raw_decode(text, span[0])[0]


def _members(text: str, at: int) -> Spans:
    """Where the values of an object stand, by their keys."""
    found: Spans = {}
    at = _after_blanks(text, at + 1)
    while text[at] != "}":
        key, at = _VALUE.raw_decode(text, at)
        start = _after_blanks(text, _after_blanks(text, at) + 1)  # behind the colon
        found[key] = start, _VALUE.raw_decode(text, start)[1]
        at = _next(text, found[key][1])
    return found


def _elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Where the elements of a list stand."""
    at = _after_blanks(text, at + 1)
    while text[at] != "]":
        end = _VALUE.raw_decode(text, at)[1]
        yield at, end
        at = _next(text, end)


def _next(text: str, at: int) -> int:
    """The beginning of the next member, or the end of all."""
    at = _after_blanks(text, at)
    return _after_blanks(text, at + 1) if text[at] == "," else at


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()
