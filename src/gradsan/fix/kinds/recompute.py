"""Run the forward again for the later pass, so that it has a graph of its own."""

import ast
from collections.abc import Iterator

from gradsan.causes.computed_once import CONSTRUCTORS
from gradsan.fix.calling_again import call_again
from gradsan.fix.drafting import Draft
from gradsan.fix.expression_text import bracketed
from gradsan.fix.item_by_item import where_an_item_is_taken
from gradsan.fix.kinds import Places, named
from gradsan.fix.program import Place, Program, frames
from gradsan.fix.rerunning import after_the_step, computed_for_the_next
from gradsan.fix.uncaching import without_the_cache
from gradsan.fix.writing_out import written_out
from gradsan.source.names import assigned_names, loaded, loaded_names, parameters
from gradsan.source.tree import Function


def _at_the_use_in_the_loop(program: Program) -> Iterator[Draft]:
    """A local of before the loop is written out inside."""
    parted = program.parted(program.diagnosis.made, program.diagnosis.used)
    if parted is not None and parted[0].loops != parted[1].loops:
        yield from _at_the_use(program)


def _at_the_use(program: Program) -> Iterator[Draft]:
    """The later loss with old names written out; the call that computed one, where a step has come in between."""
    yield from _names_written_out(program)
    if program.diagnosis.changed is not None:
        yield from call_again(program)


def _names_written_out(program: Program) -> Iterator[Draft]:
    made, used = program.diagnosis.made, program.diagnosis.used
    apart, creating = program.apart(made, used), program.beside(made, used)
    if apart is None or creating is None:
        return
    for place in filter(None, (program.at(later, apart) for later in (program.diagnosis.enters, used))):
        if _runs_for_each(program, place):
            yield from written_out(program, place, creating)


def _runs_for_each(program: Program, place: Place) -> bool:
    """Whether the program comes to a statement again for the later pass, and not once for both.

    Where one line makes both passes, the innermost loop is what brings it there again.
    """
    freed, used = program.diagnosis.freed, program.diagnosis.used
    if freed is None or used is None or frames(freed) != frames(used):
        return True
    places = program.places(used)
    inner = places[places.index(place) + 1 :] if place in places else []
    return not any(each.loops for each in filter(None, inner))


def _lines_after_the_step(program: Program) -> Iterator[Draft]:
    """Several lines lead to the loss: they are run again below the step, rather than written out in one."""
    draft = after_the_step(program)
    if draft is not None:
        yield draft


def _attribute_written_out(program: Program, name: str) -> Iterator[Draft]:
    """What a constructor derived from parameters, wherever it is read: if that needs nothing but the object itself."""
    reader = next((each for each in program.known(program.diagnosis.enters) if loaded(each.statement, name)), None)
    if reader is None or not name.startswith("self."):
        return
    constructing = [each for each in program.known(program.diagnosis.made) if each.function.endswith(CONSTRUCTORS)]
    for place in constructing:
        value = place.value_of(name)
        if value is not None and not loaded_names(value) & _locals(place):
            draft = Draft()
            for load in _read_by_others(place, reader, name):
                draft.replace(reader.tree, load, bracketed(place.text(value)))
            yield draft


def _read_by_others(constructing: Place, reader: Place, name: str) -> list[ast.expr]:
    """Where the methods of the class read an attribute; where the reader is none of them, it alone."""
    known = [] if constructing.cls is None else loaded(constructing.cls, name)
    own = loaded(reader.statement, name)
    if not all(each in known for each in own):
        return own
    return [each for each in known if each not in loaded(constructing.scope, name)]


def _locals(place: Place) -> set[str]:
    """The names that only the function knows."""
    function = place.scope
    given = parameters(function.args) if isinstance(function, Function) else ()
    return (assigned_names(function) | {*given}) - {"self"}


PLACES: Places = {
    "cache": without_the_cache,
    **named({"attribute": _attribute_written_out, "handed on": computed_for_the_next}),
    **named({"item": where_an_item_is_taken}),
    "use": _at_the_use,
    "use in the loop": _at_the_use_in_the_loop,
    "lines after the step": _lines_after_the_step,
}
