"""Facts from source → diagnoses, in the words that the causes have for both doors."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gradsan.causes import all_causes, cause
from gradsan.causes.cause import Cause, Role
from gradsan.causes.diagnosing import capitalised, fingerprint_of, fix_of
from gradsan.check.facts import Told
from gradsan.check.graph import LIKELY, SURE, Label
from gradsan.check.silences import Silence
from gradsan.check.source import Source, load
from gradsan.check.spots import Spot
from gradsan.facts.culprit import shown
from gradsan.facts.incident import Edited, Incident, SecondPass, Stack
from gradsan.facts.location import Frame, Location
from gradsan.report import Confidence, Culprit, Diagnosis

_SURENESS: dict[str, int] = {"certain": 0, "likely": 1, "possible": 2}


@dataclass(frozen=True, slots=True)
class Teller:
    """Knows the sources that places lie in."""

    sources: Mapping[str, Source]  # those that are no files on disk, or were read already

    def raised(self, told: Told) -> Diagnosis:
        """The one diagnosis of an error that a path runs into."""
        incident = told.incident
        found = next(each for each in _in_order() if each.explains(incident))
        subject = "a tensor" if told.label is None else f"`{told.label.name}`"
        places = _places(told)
        return self._diagnosis(
            found.code,
            found.sentence(subject, incident),
            tuple(found.remedies(incident)),
            places,
            told.label,
            _confidence(told.doubt, guarded=told.guarded),
            tuple(_notes(incident)) + tuple(found.notes(incident)),
        )

    def silent(self, silence: Silence) -> Diagnosis:
        """A silent problem."""
        places: dict[Role, tuple[Stack, int | None]] = {role: (at, None) for role, at in silence.places.items()}
        confidence = _confidence(silence.doubt, guarded=silence.guarded)
        return self._diagnosis(silence.code, silence.sentence, silence.remedies, places, silence.label, confidence, ())

    def _diagnosis(  # the parts of one sentence
        self,
        code: str,
        sentence: str,
        remedies: tuple[str, ...],
        places: dict[Role, tuple[Stack, int | None]],
        label: Label | None,
        confidence: Confidence,
        notes: tuple[str, ...],
    ) -> Diagnosis:
        known = cause(code)
        located = {role: self._locate(stack, step) for role, (stack, step) in places.items() if stack}
        return Diagnosis(
            code=known.code,
            name=known.name,
            severity=known.severity,
            origin="check",
            confidence=confidence,
            message=capitalised(sentence),
            fingerprint=fingerprint_of(known, label.name if label else "", located.values()),
            culprit=None if label is None else Culprit(label.name, label.holder),
            notes=notes,
            fixes=tuple(fix_of(kind, known) for kind in remedies),  # type: ignore[arg-type]
            **located,  # type: ignore[arg-type]
        )

    def _locate(self, stack: Stack, step: int | None) -> Location:
        inner = stack[-1]
        source = self.sources.get(inner.file) or load(inner.file)
        text = source.lines[inner.line - 1] if source is not None and inner.line <= len(source.lines) else ""
        spot = inner if isinstance(inner, Spot) else Spot(inner.file, inner.line, inner.function, 1, inner.line, 1)
        cell, first = (None, 1) if source is None else _cell(source, inner.line)
        return Location(
            file=shown(inner.file),
            line=inner.line - first + 1,
            column=_characters(text, spot.column),
            end_line=spot.end_line - first + 1,
            end_column=_characters(text, spot.end_column) if spot.end_line == inner.line else None,
            function=inner.function,
            source=text.strip(),
            step=step,
            stack=tuple(Frame(shown(each.file), each.line, each.function) for each in stack),
            cell=cell,
        )


def _in_order() -> list[type[Cause]]:
    asked = [each for each in all_causes() if each.asked is not None]
    return sorted(asked, key=lambda each: each.asked or 0)


def _places(told: Told) -> dict[Role, tuple[Stack, int | None]]:
    incident = told.incident
    places: dict[Role, tuple[Stack, int | None]] = {"used": (incident.failing.stack, incident.failing.step)}
    match incident:
        case SecondPass():
            places["freed"] = (incident.freeing.stack, incident.freeing.step)
            places["made"] = (incident.made.stack, None)
            if incident.enters is not None:
                places["enters"] = (incident.enters.stack, None)
        case Edited():
            places["made"] = (incident.saver.stack if incident.saver is not None else (), None)
            places["changed"] = (incident.changed, None)
        case _:
            freeing = getattr(incident, "freeing", None)
            places["freed"] = (() if freeing is None else freeing.stack, None)
            places["cut"] = (told.cut, None)
    return places


def _notes(incident: Incident) -> Iterable[str]:
    if isinstance(incident, SecondPass) and incident.failing.retains:
        yield (
            "`retain_graph=True` on this call does not help: it keeps what this pass walks, and the graph was freed "
            "by the earlier one"
        )


def _confidence(doubt: int, *, guarded: bool) -> Confidence:
    if doubt > LIKELY:
        return "possible"
    return "likely" if guarded or doubt > SURE else "certain"


def one_story_each(raised: list[Diagnosis], silent: list[Diagnosis]) -> list[Diagnosis]:
    """One diagnosis for each failing call, the surest; silent ones on the same lines are part of its story."""
    best: dict[object, Diagnosis] = {}
    for each in sorted(raised, key=lambda one: _SURENESS[one.confidence]):
        best.setdefault(_at(each.used), each)
    told = {_at(place) for each in best.values() for place in (each.used, each.freed)}
    kept: dict[object, Diagnosis] = {}
    for each in silent:
        if _at(each.used) in told and each.used is not None:
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
    """The same place told by several programs is one diagnosis: the surest; in the order of files and lines."""
    best: dict[object, Diagnosis] = {}
    for each in sorted(diagnoses, key=lambda one: (_SURENESS[one.confidence], one.code)):
        known = best.setdefault((each.severity, _at(main_place(each))), each)
        if known is not each and known.code == each.code:
            best[each.severity, _at(main_place(each))] = replace(known, count=known.count)
    return sorted(best.values(), key=_order)


def _order(diagnosis: Diagnosis) -> tuple[str, int, int, int, str]:
    place = main_place(diagnosis)
    return (place.file, place.cell or 0, place.line, place.column or 0, diagnosis.code)


def _at(place: Location | None) -> tuple[str, int | None, int, int | None] | None:
    return None if place is None else (place.file, place.cell, place.line, place.column)


def _cell(source: Source, line: int) -> tuple[int | None, int]:
    """The cell that a line of a notebook lies in, and the first line of that cell."""
    cell: tuple[int | None, int] = (None, 1)
    for first, number in source.cells:
        if first <= line:
            cell = (number, first)
    return cell


def _characters(text: str, column: int) -> int:
    """`ast` counts columns in UTF-8 bytes; reports count characters."""
    return column if text.isascii() else len(text.encode()[: column - 1].decode(errors="ignore")) + 1
