"""What a check found, with the lines it is about: each marked where it happens and with what it means."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len
from rich.text import Text

from gradsan.facts.location import Location, line_of
from gradsan.report import Diagnosis, Report
from gradsan.show.explained import explained, headline, shortened
from gradsan.show.harmless import harmless, neutral
from gradsan.show.places import explanation_places, main_place, main_role, written
from gradsan.show.typography import NARROWEST, SEVERITY, rendered, wrapped

_GUTTER = "bold blue"

Lines = Callable[[Location], str | None]  # the whole line of a place, with its indentation; None: not at hand


def framed(report: Report, *, width: int, color: bool, lines: Lines) -> str:
    """All diagnoses of a check."""
    text = Text()
    for each in harmless(report).diagnoses:
        text.append_text(_explanation(each, max(width, NARROWEST), lines)).append("\n")
    return rendered(text, color=color)


def _explanation(diagnosis: Diagnosis, width: int, lines: Lines) -> Text:
    head = headline(f"{diagnosis.severity}[{diagnosis.code}]", diagnosis, width, SEVERITY[diagnosis.severity])
    head.append(" --> ", _GUTTER).append(f"{written(main_place(diagnosis))}\n")
    return explained(diagnosis, head=head, happened=_frames(diagnosis, width, lines), width=width, verbose=False)


def _frames(diagnosis: Diagnosis, width: int, lines: Lines) -> Text:
    """The marked lines, in the order of time; a line again where something else happened meanwhile."""
    marks = list(_marks(diagnosis, lines))
    gutter = max(len(str(mark.line)) for mark in marks)
    several = len({mark.file for mark in marks}) > 1
    text, before = Text(), None
    for (file, line), on_line in groupby(marks, key=lambda mark: (mark.file, mark.line)):
        together = list(on_line)
        if several and file != before:
            text.append(f"{'':{gutter}}::: ", _GUTTER).append(f"{together[0].where}\n")
        before = file
        text.append_text(_line(line, together, gutter, width))
    return text


@dataclass(frozen=True, slots=True)
class _Mark:
    """A span of a line, and what happens there."""

    file: tuple[str, int | None]
    where: str
    line: int
    source: str
    start: int  # columns before the span
    length: int
    meaning: str
    main: bool


def _marks(diagnosis: Diagnosis, lines: Lines) -> Iterator[_Mark]:
    """The spans, numbered in the order of time where there are several."""
    main, places = main_role(diagnosis), list(explanation_places(diagnosis))
    for number, (role, at, words) in enumerate(places, 1):
        meaning = f"{number} {words}" if len(places) > 1 else words
        yield _mark(at, meaning, lines, main=role == main)


def _mark(at: Location, meaning: str, lines: Lines, *, main: bool) -> _Mark:
    whole = lines(at)
    source = at.source or "" if whole is None else neutral(whole.rstrip())
    shift = len(source) - len(source.lstrip()) if whole is not None else 0
    start = max((at.column or 1) - 1, shift) if whole is not None else 0
    ends_here = at.end_column is not None and (at.end_line or at.line) == at.line
    end = (at.end_column or 1) - 1 if ends_here and whole is not None else len(source)
    length = max(1, min(end, len(source)) - start)
    before, marked = cell_len(source[shift:start]), cell_len(source[start : start + length])
    return _Mark((at.file, at.cell), line_of(at), at.line, source[shift:], before, max(marked, 1), meaning, main)


def _line(line: int, marks: list[_Mark], gutter: int, width: int) -> Text:
    """One line of source, and what happens there."""
    room = max(width - gutter - 3, NARROWEST)
    text = Text().append(f"{line:>{gutter}} | ", _GUTTER).append(shortened(marks[0].source, room) + "\n")
    for mark in marks:
        style = SEVERITY["error"] if mark.main else _GUTTER
        start = min(mark.start, room - 1)
        length = max(1, min(mark.length, room - start))
        sign = "^" if mark.main else "-"
        text.append(f"{'':{gutter}} | ", _GUTTER)
        text.append_text(_underlined(start, sign * length, mark.meaning, style, gutter, width))
    return text


def _underlined(start: int, line: str, meaning: str, style: str, gutter: int, width: int) -> Text:
    """The line under a span with its meaning beside it, or below where there is no room."""
    if gutter + 3 + start + len(line) + 1 + len(meaning) <= width:
        return Text(f"{'':{start}}{line} {meaning}\n", style)
    room = width - gutter - 3
    indent = min(start, max(0, room - len(meaning)))
    text = Text(f"{'':{start}}{line}\n", style)
    for each in wrapped(meaning, room - indent):
        text.append(f"{'':{gutter}} | ", _GUTTER).append(f"{'':{indent}}{each}\n", style)
    return text
