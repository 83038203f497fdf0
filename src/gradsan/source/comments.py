"""`# gradsan: ignore[GS103]` and `# noqa: GS103`: comments that ask for silence, found and written.

A comment in a notebook has the line that it has in its cell, as places in cells have.
"""

import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gradsan.source.disk import NOTEBOOK, parsed
from gradsan.source.file import Source, same_code, split_lines

_COMMENT = re.compile(
    r"#\s*(?:gradsan:\s*ignore(?P<all>\s*(?:\[(?P<codes>[^\]]*)\])?)|noqa:\s*(?P<noqa>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))"
)
_OWN = re.compile(r"\bGS[0-9]+")
Line = tuple[int | None, int]  # a cell of a notebook, and the line in it; or None, and the line of a file


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that asks for silence."""

    file: str
    line: int
    codes: tuple[str, ...]  # in lower case; empty: all
    alone: bool  # it stands on a line of its own, and speaks for the next
    text: str
    cell: int | None = None  # from 1, among the code cells of a notebook

    def covers(self, cell: int | None, line: int, *names: str) -> bool:
        """Whether it speaks of what has one of these names, on this line."""
        lines = (self.line, self.line + 1) if self.alone else (self.line,)
        is_here = cell == self.cell and line in lines
        return is_here and (not self.codes or any(name in self.codes for name in names))


def comments_of(file: str, content: bytes) -> list[Comment]:
    """All comments of a file or a notebook that ask for silence; those for other linters are theirs."""
    if not any(each in content for each in (b"gradsan:", b"noqa: GS", b"noqa:GS")):
        return []
    if not file.endswith(NOTEBOOK):
        return comments_in(file, content.decode(errors="replace"))
    notebook = parsed(file, content)
    return [] if notebook is None else comments_in_cells(file, notebook)


def comments_in_cells(file: str, notebook: Source) -> list[Comment]:
    """Those of a notebook, each with the line that it has in its cell."""
    cells = [number for _, number in notebook.cells]
    return [each for cell in cells for each in comments_in(file, "\n".join(notebook.written_in(cell)), cell)]


def comments_in(file: str, text: str, cell: int | None = None) -> list[Comment]:
    """Those of a text: a file's, or one cell's."""
    lines = enumerate(io.StringIO(text, newline=None), 1)
    found = (_comment(file, cell, number, line) for number, line in lines)
    return [each for each in found if each is not None]


def _comment(file: str, cell: int | None, number: int, line: str) -> Comment | None:
    match = _COMMENT.search(line)
    if match is None:
        return None
    listed = match["codes"] if match["noqa"] is None else " ".join(_OWN.findall(match["noqa"]))
    codes = tuple(filter(None, re.split(r"[,\s]+", (listed or "").lower())))
    if match["noqa"] and not codes:
        return None
    return Comment(file, number, codes, alone=line.lstrip().startswith("#"), text=match[0].strip(), cell=cell)


def with_comments(text: str, wanted: Mapping[int, Iterable[str]]) -> str:
    """The source with a comment on each of these lines; a line that cannot take one is left as it is."""
    lines = list(split_lines(text))
    for number, codes in wanted.items():
        if not 1 <= number <= len(lines):
            continue
        line = lines[number - 1]
        body = line.rstrip("\r\n")
        lines[number - 1] = f"{body}  # gradsan: ignore[{', '.join(sorted(codes))}]{line[len(body) :]}"
        if not same_code(text, "".join(lines)):
            lines[number - 1] = line
    return "".join(lines)


def commented(file: str, content: bytes, wanted: Mapping[Line, Iterable[str]]) -> bytes:
    """The content of a file with comments on these lines; it keeps its encoding and its line ends.

    It stays as it is where it cannot be read, or its encoding does not lead back to the same bytes.
    """
    source = parsed(file, content)
    if source is None:
        return content
    lines = {source.line_in(cell, line): codes for (cell, line), codes in wanted.items()}
    new = with_comments(source.text, {line: codes for line, codes in lines.items() if line not in source.typed})
    if source.cells:
        return _with_cells(source, content, new)
    return new.encode(source.encoding) if source.content == content else content


def _with_cells(notebook: Source, content: bytes, text: str) -> bytes:
    from gradsan.source.notebook_cells import UnusualNotebookError, with_program

    try:
        return with_program(content, notebook, split_lines(text))
    except UnusualNotebookError:
        return content
