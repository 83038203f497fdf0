"""Notebooks: the code cells as one program, with the cell that every line came from."""

import json
import re

from gradsan.source.file import Source, UnreadableSourceError, parse_text, parses

_MAGIC = re.compile(r"^([ \t]*+)(?:[%!?]|[\w.]++\?{1,2}[ \t]*+$)", re.MULTILINE)


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
    for number, code in enumerate(codes, 1):
        starts.append((len(lines) + 1, number))
        lines += _readable(code).splitlines() or [""]
    return parse_text(path, "\n".join(lines) + "\n", cells=tuple(starts))


def _text(cell: dict[str, object]) -> str:
    text = cell.get("source", cell.get("input", ""))
    return "".join(map(str, text)) if isinstance(text, list) else str(text)


def _readable(code: str) -> str:
    """A cell without its magics; an empty one of the same length where it is no Python all the same."""
    if code.lstrip().startswith("%%"):
        first = code.lstrip().split(None, 1)[0]
        if first not in ("%%time", "%%timeit", "%%capture"):
            return "\n" * code.count("\n")
    plain = _MAGIC.sub(r"\1pass  # ", code)
    return plain if parses(plain) else "\n" * code.count("\n")
