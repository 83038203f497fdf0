"""From the course of a program to the diagnoses of its silent problems, and how they join the diagnosis of an error."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from gradsan.causes import all_causes
from gradsan.causes.diagnosing import RUN, EntryPoint, diagnosis_of
from gradsan.facts.course import Course
from gradsan.facts.location import Location, line_of
from gradsan.report import Diagnosis

_NOTES_AT_MOST = 3


def silent_diagnoses(
    course: Course, wants: Callable[[str], bool] = lambda _: True, entry: EntryPoint = RUN
) -> list[Diagnosis]:
    """Every silent problem, the costliest first: what spoils the training, then what costs most memory."""
    found = [(each, cause) for cause in all_causes() if wants(cause.code) for each in cause.recognise(course)]
    found.sort(key=lambda each: (each[0].costs_bytes is not None, -(each[0].costs_bytes or 0), each[1].code))
    return [diagnosis_of(finding, cause, entry) for finding, cause in found]


def folded(errors: Sequence[Diagnosis], silent: Iterable[Diagnosis]) -> list[Diagnosis]:
    """An error is reported alone: silent problems of the same lines become notes on it, others are left out."""
    reported = list(errors)
    for each in silent:
        for place, error in enumerate(reported):
            if _lines(each) & _lines(error) and len(error.notes) < _NOTES_AT_MOST:
                where = min(places_of(each), key=lambda place: (place.file, place.cell or 0, place.line))
                at = f" ({line_of(where)})"
                reported[place] = replace(
                    error, notes=(*error.notes, f"also {each.code} {each.name}{at}: {each.message}")
                )
                break
    return reported


def places_of(diagnosis: Diagnosis) -> list[Location]:
    """All places of a diagnosis."""
    made = (diagnosis.used, diagnosis.freed, diagnosis.made, diagnosis.enters)
    places = (*made, diagnosis.changed, diagnosis.cut, diagnosis.held)
    return [each for each in places if each is not None]


def _lines(diagnosis: Diagnosis) -> set[str]:
    return {line_of(each) for each in places_of(diagnosis)}
