"""Run the forward again for the later pass, so that it has a graph of its own."""

from collections.abc import Iterator

from gradsan.fix.kinds import Places, named
from gradsan.fix.places.calling_again import call_again
from gradsan.fix.places.kept_by_constructors import where_an_item_is_taken, where_it_is_read
from gradsan.fix.places.rerunning import after_the_step, computed_for_the_next
from gradsan.fix.places.uncaching import without_the_cache
from gradsan.fix.places.writing_out import written_out
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft


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
    places = program.known(program.diagnosis.used)
    inner = places[places.index(place) + 1 :] if place in places else []
    return program.asking_for_both is None or not any(each.loops for each in inner)


PLACES: Places = {
    "cache": without_the_cache,
    **named({"attribute": where_it_is_read, "handed on": computed_for_the_next, "item": where_an_item_is_taken}),
    "use": _at_the_use,
    "use in the loop": _at_the_use_in_the_loop,
    "lines after the step": after_the_step,
}
