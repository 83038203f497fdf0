"""Take `retain_graph=True` out of a pass whose graph no other pass walks."""

from collections.abc import Iterator

from gradsan.fix.calls import argument
from gradsan.fix.drafting import Draft
from gradsan.fix.passes import pass_call
from gradsan.fix.program import Place, Program
from gradsan.source.arguments import without_argument

_RETAINED = ("GS201", "GS305", "GS308")  # a retained graph led here; cut off, or computed again, nobody needs it


def drafts(program: Program) -> Iterator[Draft]:
    """The innermost call on the way to the pass that has the argument."""
    draft = Draft()
    if any(stop_retaining(place, draft) for place in reversed(program.places(program.diagnosis.used))):
        yield draft


def stop_retaining(place: Place | None, draft: Draft) -> bool:
    """Take the argument out, if it is there."""
    call = None if place is None else pass_call(place.statement)
    if place is None or call is None or argument(call, "retain_graph") is None:
        return False
    draft.replace(place.tree, call, without_argument(place.tree.text(call), "retain_graph"))
    return True


def without_retaining(program: Program, draft: Draft) -> Draft:
    """The same edit, with the argument taken out as well where it kept the graph that the edit does without."""
    if program.diagnosis.code in _RETAINED:
        any(stop_retaining(place, draft) for place in reversed(program.places(program.diagnosis.used)))
    return draft
