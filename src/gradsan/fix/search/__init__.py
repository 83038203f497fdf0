"""Edits for which the source alone gives no reason: general ones, and a trial decides which of them is right.

A kind of fix has places where an expert would make the edit (`kinds/`). Where none of these holds, every statement on
the way of the old value may be the place: each is tried, the smallest and most local change first. So nothing of this
is offered without a trial, nor where a trial has no run to be compared with.
"""

from collections.abc import Callable, Iterator, Mapping

from gradsan.fix.proposing import Edits, is_sound
from gradsan.fix.reading.program import Program
from gradsan.fix.search.copying import of_what_is_saved_or_edited
from gradsan.fix.search.cutting import where_it_passes
from gradsan.fix.search.lazily import when_it_is_taken
from gradsan.fix.search.moving import into_what_repeats
from gradsan.fix.search.repeating import right_above_the_pass
from gradsan.fix.search.skipping import with_the_rest
from gradsan.fix.search.unguarding import without_the_question
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.retaining import without_retaining
from gradsan.report import FixKind

Search = Callable[[Program], Iterator[Draft]]

_COMPUTED_AGAIN: tuple[Search, ...] = (when_it_is_taken, without_the_question, into_what_repeats)
_SEARCHES: Mapping[FixKind, tuple[Search, ...]] = {
    "detach": (where_it_passes,),
    "no-grad": (where_it_passes,),
    "recompute": (right_above_the_pass, *_COMPUTED_AGAIN),
    "move-into-loop": _COMPUTED_AGAIN,
    "reorder": (with_the_rest,),
    "clone": (of_what_is_saved_or_edited,),
}


def searched(kind: FixKind, program: Program) -> Iterator[Edits]:
    """Every change that a trial may prove to be that fix: each parses, and keeps every path working."""
    asked = program.asked_for(kind)
    for search in _SEARCHES.get(kind, ()):
        changes = (without_retaining(asked, draft).edits() for draft in search(asked))
        yield from (edits for edits in changes if edits and is_sound(edits, program))
