"""The places of a diagnosis, in the order in which its story is told, each with what it means."""

from collections.abc import Iterator
from typing import get_args

from gradsan.causes import cause
from gradsan.causes.cause import Role
from gradsan.lifecycle.location import Location
from gradsan.report import Diagnosis

_MAIN: tuple[Role, ...] = ("used", "held", "cut", "made", "changed")


def story_places(diagnosis: Diagnosis) -> Iterator[tuple[Role, Location, str]]:
    """Each place with its role and the role's words."""
    roles = cause(diagnosis.code).roles
    for role in get_args(Role):
        location: Location | None = getattr(diagnosis, role)
        if location is not None:
            yield role, location, roles[role]


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
