"""The places of a diagnosis, in the order in which its explanation is told, each with what it means."""

from collections.abc import Iterator
from typing import get_args

from gradsan.causes import cause
from gradsan.causes.cause import Role
from gradsan.facts.location import Location
from gradsan.report import Diagnosis

_MAIN: tuple[Role, ...] = ("used", "held", "cut", "made", "changed")


def explanation_places(diagnosis: Diagnosis) -> Iterator[tuple[Role, Location, str]]:
    """Each place with its role, and the role's words with the step."""
    roles, shows_steps = cause(diagnosis.code).roles, _shows_steps(diagnosis)
    for role, location in _locations(diagnosis):
        step = f", in step {location.step}" if shows_steps and location.step is not None else ""
        yield role, location, roles[role] + step


def is_one_line(diagnosis: Diagnosis) -> bool:
    """Whether the pass that freed and the one that failed are asked for by the same line, if there are two."""
    freed, used = diagnosis.freed, diagnosis.used
    return freed is None or used is None or (freed.file, freed.line) == (used.file, used.line)


def _shows_steps(diagnosis: Diagnosis) -> bool:
    """Steps are counted for each line that asks for passes: beside one another, those of two lines would confuse.

    And where all is in the first, there is nothing to distinguish.
    """
    return is_one_line(diagnosis) and any(place.step not in (None, 1) for _, place in _locations(diagnosis))


def _locations(diagnosis: Diagnosis) -> Iterator[tuple[Role, Location]]:
    for role in get_args(Role):
        location: Location | None = getattr(diagnosis, role)
        if location is not None:
            yield role, location


def main_role(diagnosis: Diagnosis) -> Role:
    """The role of the place that an editor should jump to."""
    return next(role for role in _MAIN if getattr(diagnosis, role) is not None)


def main_place(diagnosis: Diagnosis) -> Location:
    """The place that an editor should jump to."""
    place: Location = getattr(diagnosis, main_role(diagnosis))
    return place


def written(location: Location) -> str:
    """`file:line:column`, with the cell of a notebook."""
    cell = "" if location.cell is None else f"[{location.cell}]"
    column = "" if location.column is None else f":{location.column}"
    return f"{location.file}{cell}:{location.line}{column}"
