"""Reports of processes that trained together, as one: a problem that several ran into is shown once."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from gradsan.facts.location import line_of
from gradsan.report import Diagnosis, Report
from gradsan.show.places import NOWHERE, main_place


def folded(reports: Iterable[Report]) -> list[Report]:
    """Every problem of ranks in the report of the first that has it, with a note of all; what is left empty goes.

    Reports of processes that are no ranks stay as they are.
    """
    ordered = sorted(reports, key=lambda each: -1 if each.rank is None else each.rank)
    ranks: dict[str, list[int]] = {}
    for report in ordered:
        for each in report.diagnoses if report.rank is not None else ():
            ranks.setdefault(each.fingerprint, []).append(report.rank or 0)
    merged = [report if report.rank is None else _own(report, ranks) for report in ordered]
    return [each for each in merged if each.diagnoses] or merged[:1]


def _own(report: Report, ranks: dict[str, list[int]]) -> Report:
    first = [each for each in report.diagnoses if ranks[each.fingerprint][0] == report.rank]
    return replace(report, diagnoses=tuple(seen_on(each, ranks[each.fingerprint]) for each in first))


def seen_on(diagnosis: Diagnosis, ranks: Iterable[int], of: int | None = None) -> Diagnosis:
    """With a note of the ranks that ran into it."""
    among = "" if of is None else f" of {of}"
    return replace(diagnosis, notes=(f"seen on {rank_names(ranks)}{among}", *diagnosis.notes))


def in_a_line(diagnosis: Diagnosis) -> str:
    """A problem that a rank has explained: what it is, where, and the note of all ranks."""
    place = main_place(diagnosis)
    at = "" if place is NOWHERE else f" at {line_of(place)}"
    return f"gradsan: {diagnosis.code} {diagnosis.name}{at}, {diagnosis.notes[0]}\n"


def rank_names(ranks: Iterable[int]) -> str:
    """`rank 3`, or `ranks 0-6, 8`."""
    runs = [_first_and_last([each for _, each in run]) for _, run in groupby(enumerate(sorted({*ranks})), _distance)]
    names = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return f"{'rank' if len(runs) == 1 and runs[0][0] == runs[0][1] else 'ranks'} {', '.join(names)}"


def _distance(numbered: tuple[int, int]) -> int:
    """The same for all numbers that follow one another."""
    place, rank = numbered
    return rank - place


def _first_and_last(ranks: Sequence[int]) -> tuple[int, int]:
    return ranks[0], ranks[-1]
