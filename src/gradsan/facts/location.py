"""Where in the user's source something happened."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """One entry of a call stack, in a file of the user's."""

    file: str
    line: int  # from 1
    function: str


def in_cell(file: str, cell: int | None) -> str:
    """A file, or a cell of a notebook as its reader calls it: by its place among the cells of code."""
    return file if cell is None else f"{file}:In[{cell}]"


@dataclass(frozen=True, slots=True)
class Location:
    """A span of the user's source, with the calls that led there."""

    file: str  # relative to the working directory where it lies under it
    line: int  # from 1
    column: int | None = None  # from 1, in code points
    end_line: int | None = None  # inclusive
    end_column: int | None = None  # exclusive
    function: str | None = None
    source: str | None = None  # the text of the line, stripped
    step: int | None = None  # from 1: the n-th repeat of the pass site
    stack: tuple[Frame, ...] = ()  # the user's frames, outermost first
    cell: int | None = None  # from 1, among the code cells of a notebook


def line_of(location: Location) -> str:
    """`file:line`, or `file:In[cell]:line` in a notebook."""
    return f"{in_cell(location.file, location.cell)}:{location.line}"
