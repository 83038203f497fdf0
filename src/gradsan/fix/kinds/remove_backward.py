"""Delete the pass that is there by mistake: the later one."""

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import call_of
from gradsan.fix.program import Place, Program, frames


def drafts(program: Program) -> Iterator[Draft]:
    """The statement of the later pass; where both passes are one line, the call that led to the later."""
    freed, used = program.diagnosis.freed, program.diagnosis.used
    if freed is None or used is None:
        return
    places = program.places(used)
    if frames(freed)[-1] != frames(used)[-1]:
        place = places[-1]
    else:
        apart = program.apart(freed, used)
        place = None if apart is None else places[apart]
    if place is not None and _only_passes(place):
        draft = Draft()
        draft.remove(place.tree, place.statement)
        yield draft


def _only_passes(place: Place) -> bool:
    """Whether the statement does nothing but ask for a pass."""
    match call_of(place.statement):
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name))) | cst.Call(func=cst.Name(value=name)):
            return "backward" in name.lower()
    return False
