"""What a page shows besides a report, put together when the run is over."""

import linecache
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gradsan.explanation.findings import Conclusion
from gradsan.facts.details import MOST_SOURCE, Details, OpGraph, SourceText
from gradsan.facts.location import Frame, Location
from gradsan.report import Diagnosis

_WHOLE = 400  # lines of a file that is kept whole
_AROUND = 30  # lines that are kept around a place in a longer one
_PLACES = ("made", "freed", "enters", "used", "changed", "cut", "held")

Place = tuple[str, int]  # a file and a line


def details(found: Iterable[Diagnosis], graphs: Mapping[str, OpGraph], concluded: Conclusion) -> Details:
    """Of what was found. The largest graph of the run is shown where no error has a graph of its own."""
    found = list(found)
    own = [replace(graph, diagnosis=each.fingerprint) for each in found if (graph := graphs.get(each.fingerprint))]
    shown = own or [graph for graph in (concluded.graph,) if graph is not None]
    return Details(
        sources=tuple(sources(_places(found, shown, concluded))), graphs=tuple(shown), timeline=concluded.timeline
    )


def sources(places: Iterable[Place]) -> Iterator[SourceText]:
    """The lines around places, as they stood when the program ran; the most important come first."""
    left = MOST_SOURCE
    for file, wanted in _by_file(places).items():
        lines = [each.rstrip("\r\n") for each in linecache.getlines(file)]
        for first, last in _stretches(wanted, len(lines)):
            kept = tuple(lines[first - 1 : last])
            left -= sum(map(len, kept))
            if left < 0:
                return
            yield SourceText(file, first, kept)


def _by_file(places: Iterable[Place]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for file, line in places:
        found.setdefault(file, set()).add(line)
    return found


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
    yield from ((each.file, each.line) for each in places if each.cell is None)
    for each in places:
        yield from _framed(each.stack)
    for fix in diagnosis.fixes:
        yield from ((edit.file, edit.line) for edit in fix.edits)


def _framed(frames: Iterable[Frame | None]) -> Iterator[Place]:
    return ((each.file, each.line) for each in frames if each is not None)
