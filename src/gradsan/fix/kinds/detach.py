"""Cut the graph of exactly the tensors that carry the old one, where they cross over."""

import ast
from collections.abc import Iterator

from gradsan.fix.kinds import Places, named
from gradsan.fix.places.carried_between import at_the_boundary, cut_below, without_a_loop
from gradsan.fix.places.keeping import added_at, as_tensor, kept_by
from gradsan.fix.places.one_loss import (
    in_the_earlier_loss,
    in_the_inner_loss,
    in_the_later_loss,
    where_aimed_at,
    where_each_is_predicted,
)
from gradsan.fix.places.siblings import cut_with_siblings
from gradsan.fix.reading.flow import constants, lines_of
from gradsan.fix.reading.program import Place, Program, common_frames, frames
from gradsan.fix.reading.revealing import held_above, held_below
from gradsan.fix.reading.uses import use_of
from gradsan.fix.writing.cutting import cut_value
from gradsan.fix.writing.drafting import Draft
from gradsan.source.tree import Function


def _where_kept(program: Program, name: str) -> Iterator[Draft]:
    """What is put into the holder goes there without its graph."""
    for place in program.inward(program.diagnosis.held or program.diagnosis.made):
        added = added_at(program, place, name)
        if added is not None:
            yield from kept_by(as_tensor, program, place, added)
            return


def _where_created(program: Program, name: str) -> Iterator[Draft]:
    """The statement of the outer function that created it, before the loop."""
    place = program.beside(program.diagnosis.made, program.diagnosis.used)
    if place is None or name not in place.targets:
        return
    held = held_below(program, place.tree, place.statement, name)
    value = place.value_of(name)
    if value is None or not held.is_tensor:
        yield from cut_below(program, place.tree, place.statement, [name], held)
    else:
        draft = Draft()
        cut_value(program, place.tree, value, draft, held=held)
        yield draft


def _where_handed_over(program: Program, name: str) -> Iterator[Draft]:
    """Where the call that created and freed it returns: nobody behind that line can use its graph."""
    made, freed, used = program.diagnosis.made, program.diagnosis.freed, program.diagnosis.used
    outer = program.places(made)[: common_frames(made, freed)]
    functions = [frame.function for frame in frames(used)]
    handing = [place for place, function in zip(outer, functions, strict=False) if place and place.function == function]
    for place in handing:
        value = place.value_of(name)
        if value is not None:
            draft = Draft()
            held = held_below(program, place.tree, place.statement, name)
            if cut_value(program, place.tree, value, draft, held=held):
                yield draft
            return


def _where_used_alone(program: Program, name: str) -> Iterator[Draft]:
    """Where it is used, if a step reads it there alone, and once: nothing of the step's own graph is cut."""
    use = use_of(program, name)
    if use is not None and _once_a_step(program, name, use):
        yield from _where_used(program, name)


def _where_used(program: Program, name: str) -> Iterator[Draft]:
    """`name.detach()` in place of `name`; the other halves of a state that are carried together go along."""
    use, draft = use_of(program, name), Draft()
    if use is not None and cut_with_siblings(program, use, name, draft):
        yield draft


def _once_a_step(program: Program, name: str, use: Place) -> bool:
    """Whether a step reads the old value at this one place, once, and it is a plain tensor there."""
    held = held_above(program, use.tree, use.statement, name)
    if held.is_known and not held.is_tensor:
        return False
    places = program.places(program.diagnosis.enters)
    outer = places[: places.index(use) + 1] if use in places else places
    if constants(use.tree.source, name) or not without_a_loop(program, outer):
        return False
    return "." not in name or not _read_elsewhere(use, name)


def _read_elsewhere(use: Place, name: str) -> bool:
    """Whether other functions of the file, or earlier lines of this one, read the attribute too."""
    own = use.scope if isinstance(use.scope, Function) else use.statement
    return not lines_of(use.tree.source, name, ast.Load) <= set(range(use.line, use.tree.end_line(own) + 1))


PLACES: Places = {
    **named(
        {
            "kept": _where_kept,
            "creation": _where_created,
            "hand-over": _where_handed_over,
            "earlier loss": in_the_earlier_loss,
            "inner loss": in_the_inner_loss,
            "later loss": in_the_later_loss,
            "single use": _where_used_alone,
            "use": _where_used,
            "boundary": at_the_boundary,
            "target": where_aimed_at,
        }
    ),
    "predicted": where_each_is_predicted,
}
