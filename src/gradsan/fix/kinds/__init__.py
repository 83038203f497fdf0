"""One file a kind of fix: where an expert would make the edit.

Each has `PLACES`: how the edit is made in a place that a cause may name. A place for which there is no reason in the
source offers nothing: the fix keeps its title, and whoever reads it makes the edit by hand.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping

from gradsan.causes.remedy import Where
from gradsan.fix.reading.program import Program
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.retaining import without_retaining
from gradsan.report import FixKind

Places = Mapping[Where, Callable[[Program], Iterable[Draft]]]


def drafts(kind: FixKind, program: Program) -> Iterator[Draft]:
    """Every edit of a kind, in the order of the places that the cause names."""
    asked = program.asked_for(kind)
    for where in asked.remedy.where:
        yield from (without_retaining(asked, draft) for draft in places(kind)[where](asked) if draft)


def can_be_written(kind: FixKind, program: Program) -> bool:
    """Whether there is such an edit."""
    return next(drafts(kind, program), None) is not None


def named(table: Mapping[Where, Callable[[Program, str], Iterable[Draft]]]) -> Places:
    """The places of an edit that is about a name: without one, there is nothing to write."""

    def of_the_name(place: Callable[[Program, str], Iterable[Draft]]) -> Callable[[Program], Iterable[Draft]]:
        def drafted(program: Program) -> Iterable[Draft]:
            return () if program.name is None else place(program, program.name)

        return drafted

    return {where: of_the_name(place) for where, place in table.items()}


def places(kind: FixKind) -> Places:
    """How a kind of fix is made, place by place."""
    found: Places = importlib.import_module(f"{__name__}.{kind.replace('-', '_')}").PLACES
    return found
