"""What a page shows besides a report, put together when the run is over."""

import linecache
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gradsan.explanation.findings import Conclusion
from gradsan.facts.details import MOST_SOURCE, Details, OpGraph, RunTimeline, SourceText
from gradsan.facts.location import Frame, Location, in_cell
from gradsan.report import Diagnosis
from gradsan.source.disk import cell_at, notebook_at

_WHOLE = 400  # lines of a file that is kept whole
_AROUND = 30  # lines that are kept around a place in a longer one
_PLACES = ("made", "freed", "enters", "used", "changed", "cut", "held")

Place = tuple[str, int | None, int]  # a file, the cell of a notebook, a line


def details(found: Iterable[Diagnosis], graphs: Mapping[str, OpGraph], concluded: Conclusion) -> Details:
    """Of what was found. The largest graph of the run is shown where no error has a graph of its own."""
    found = list(found)
    own = [replace(graph, diagnosis=each.fingerprint) for each in found if (graph := graphs.get(each.fingerprint))]
    shown = own or [graph for graph in (concluded.graph,) if graph is not None]
    return Details(
        sources=tuple(sources(_places(found, shown, concluded))),
        graphs=tuple(map(_graph_by_cells, shown)),
        timeline=None if concluded.timeline is None else _timeline_by_cells(concluded.timeline),
    )


def sources(places: Iterable[Place]) -> Iterator[SourceText]:
    """The lines around places, as they stood when the program ran; the most important come first."""
    left = MOST_SOURCE
    for (file, cell), wanted in _by_file(places).items():
        lines = _lines(file, cell)
        for first, last in _stretches(wanted, len(lines)):
            kept = tuple(lines[first - 1 : last])
            left -= sum(map(len, kept))
            if left < 0:
                return
            yield SourceText(in_cell(file, cell), first, kept)


def _by_file(places: Iterable[Place]) -> dict[tuple[str, int | None], set[int]]:
    found: dict[tuple[str, int | None], set[int]] = {}
    for file, cell, line in places:
        found.setdefault((file, cell), set()).add(line)
    return found


def _lines(file: str, cell: int | None) -> list[str]:
    notebook = notebook_at(file)
    if cell is None or notebook is None:
        return [each.rstrip("\r\n") for each in linecache.getlines(file)]
    return notebook.written_in(cell)


def _stretches(wanted: Iterable[int], length: int) -> list[tuple[int, int]]:
    """From which line to which, in a file of so many."""
    if length <= _WHOLE:
        return [(1, length)] if length else []
    found: list[tuple[int, int]] = []
    for line in sorted(each for each in wanted if each <= length):
        first, last = max(line - _AROUND, 1), min(line + _AROUND, length)
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def _places(found: Iterable[Diagnosis], graphs: Iterable[OpGraph], concluded: Conclusion) -> Iterator[Place]:
    for each in found:
        yield from _places_of(each)
    if concluded.timeline is not None:
        yield from _framed(line.place for line in concluded.timeline.lines)
    for graph in graphs:
        yield from _framed(graph.frames)


def _places_of(diagnosis: Diagnosis) -> Iterator[Place]:
    located: list[Location | None] = [getattr(diagnosis, role) for role in _PLACES]
    places = [each for each in located if each is not None]
    yield from ((each.file, each.cell, each.line) for each in places)
    for each in places:
        yield from _framed(each.stack)
    for fix in diagnosis.fixes:
        yield from ((edit.file, edit.cell, edit.line) for edit in fix.edits)


def _framed(frames: Iterable[Frame | None]) -> Iterator[Place]:
    return (_place_of(each) for each in frames if each is not None)


def _place_of(frame: Frame) -> Place:
    cell, first = cell_at(frame.file, frame.line)
    return frame.file, cell, frame.line - first + 1


def _graph_by_cells(graph: OpGraph) -> OpGraph:
    """Each line counted in its cell, where the program is a notebook."""
    line = None if graph.line is None else _by_cells(graph.line)
    return replace(graph, line=line, frames=tuple(map(_by_cells, graph.frames)))


def _timeline_by_cells(timeline: RunTimeline) -> RunTimeline:
    lines = (replace(each, place=None if each.place is None else _by_cells(each.place)) for each in timeline.lines)
    return replace(timeline, lines=tuple(lines))


def _by_cells(frame: Frame) -> Frame:
    file, cell, line = _place_of(frame)
    return replace(frame, file=in_cell(file, cell), line=line)
