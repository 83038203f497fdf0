"""Delete the pass that is there by mistake: the later one, or all but one of a loop's."""

from collections.abc import Iterator

from gradsan.fix.kinds import Places
from gradsan.fix.reading.program import Place, Program, frames
from gradsan.fix.writing.drafting import Draft
from gradsan.knowledge.effects import accumulates
from gradsan.source.names import assigned_names, call_of, called_name, loaded_names
from gradsan.source.placing import code_of


def _without_the_pass(program: Program) -> Iterator[Draft]:
    """The statement of the later pass; where both passes are one line, the call that led to the later."""
    freed, used = program.diagnosis.freed, program.diagnosis.used
    if freed is None or used is None:
        return
    if program.asking_for_both is not None:
        yield from _once_for_all_iterations(program.asking_for_both)
        return
    place = program.places(used)[-1] if frames(freed)[-1] != frames(used)[-1] else program.beside(used, freed)
    if place is not None and _only_passes(place):
        yield Draft().remove(place.tree, place.statement)


def _once_for_all_iterations(place: Place) -> Iterator[Draft]:
    """One pass above a loop that asks for the same one in every iteration."""
    loop = place.loops[0] if place.loops and _only_passes(place) else None
    if loop is not None and place.statement in loop.body and not loaded_names(place.statement) & assigned_names(loop):
        draft = Draft().remove(place.tree, place.statement)
        yield draft.insert_before(place.tree, loop, code_of(place.tree, place.statement, comments=False))


def _only_passes(place: Place) -> bool:
    """Whether the statement does nothing but ask for a pass."""
    call = call_of(place.statement)
    return call is not None and accumulates(called_name(call))


PLACES: Places = {"later pass": _without_the_pass}
