"""Facts from source → diagnoses, which the causes make of them as they do at run time."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gradsan.causes.diagnosing import EntryPoint, diagnose
from gradsan.causes.silence import silent_diagnoses
from gradsan.check.graph import Label
from gradsan.check.shown import Shown
from gradsan.check.spots import Spot
from gradsan.check.stopped import Stopped
from gradsan.facts.culprit import Named, shown
from gradsan.facts.incident import Repetition, SecondPass, Stack
from gradsan.facts.location import Frame, Location
from gradsan.report import Culprit, Diagnosis
from gradsan.source.disk import load
from gradsan.source.file import Source

_SURENESS: dict[str, int] = {"certain": 0, "likely": 1, "possible": 2}


@dataclass(frozen=True, slots=True)
class Places:
    """Knows the sources that places lie in."""

    sources: Mapping[str, Source]  # those that are no files on disk, or were read already

    def locate(self, stack: Stack, step: int | None) -> Location | None:
        """The innermost line of a stack, with the columns of what is meant on it."""
        if not stack:
            return None
        inner = stack[-1]
        source = self.sources.get(inner.file) or load(inner.file)
        text = source.lines[inner.line - 1] if source is not None and inner.line <= len(source.lines) else ""
        spot = inner if isinstance(inner, Spot) else Spot(inner.file, inner.line, inner.function, 1, inner.line, 1)
        cell, first = (None, 1) if source is None else source.cell_of(inner.line)
        return Location(
            file=shown(inner.file),
            line=inner.line - first + 1,
            column=_characters(text, spot.column),
            end_line=spot.end_line - first + 1,
            end_column=_characters(text, spot.end_column) if spot.end_line == inner.line else None,
            function=inner.function,
            source=text.strip() if source is None else source.as_written(inner.line).strip(),
            step=step,
            stack=tuple(Frame(shown(each.file), each.line, each.function) for each in stack),
            cell=cell,
        )


def diagnoses_of(found: Shown, sources: Mapping[str, Source]) -> list[Diagnosis]:
    """Everything that the paths through a file showed."""
    entry = EntryPoint("check", Places(sources).locate)
    raised = [diagnose(each.incident, None, _named(each), entry=entry) for each in found.stopped]
    silent = [each for course in found.courses for each in silent_diagnoses(course, entry=entry)]
    return _one_each(raised, silent)


def _named(stopped: Stopped) -> Named | None:
    """By the memo that has it, or by the name that leads to it."""
    match stopped.incident, stopped.label:
        case SecondPass(repetition=Repetition(memo=str(memo))), _:
            return Named(Culprit(memo, "attribute" if "." in memo else "local"), certain=True)
        case _, Label(name=name, holder=holder):
            return Named(Culprit(name, holder), certain=True)
    return None


def _one_each(raised: list[Diagnosis], silent: list[Diagnosis]) -> list[Diagnosis]:
    """One diagnosis for each failing call, the surest; silent ones on the same lines are part of its explanation."""
    best: dict[object, Diagnosis] = {}
    for each in sorted(raised, key=lambda one: _SURENESS[one.confidence]):
        best.setdefault(_at(each.used), each)
    explained = {_at(place) for each in best.values() for place in (each.used, each.freed)}
    kept: dict[object, Diagnosis] = {}
    for each in silent:
        if _at(each.used) in explained and each.used is not None:
            continue
        kept.setdefault((each.code, _at(each.used), _at(each.held), _at(each.made), _at(each.cut)), each)
    return [*best.values(), *kept.values()]


def main_place(diagnosis: Diagnosis) -> Location:
    """Where an editor should jump to."""
    for place in (diagnosis.used, diagnosis.held, diagnosis.cut, diagnosis.made, diagnosis.changed):
        if place is not None:
            return place
    raise ValueError(diagnosis)


def merged(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """The same place reported by several programs is one diagnosis: the surest; in the order of files and lines."""
    best: dict[object, Diagnosis] = {}
    for each in sorted(diagnoses, key=lambda one: (_SURENESS[one.confidence], one.code)):
        best.setdefault((each.severity, _at(main_place(each))), each)
    return sorted(best.values(), key=_order)


def _order(diagnosis: Diagnosis) -> tuple[str, int, int, int, str]:
    place = main_place(diagnosis)
    return (place.file, place.cell or 0, place.line, place.column or 0, diagnosis.code)


def _at(place: Location | None) -> tuple[str, int | None, int, int | None] | None:
    return None if place is None else (place.file, place.cell, place.line, place.column)


def _characters(text: str, column: int) -> int:
    """`ast` counts columns in UTF-8 bytes; reports count characters."""
    return column if text.isascii() else len(text.encode()[: column - 1].decode(errors="ignore")) + 1
