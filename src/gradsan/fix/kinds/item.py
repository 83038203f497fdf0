"""Keep the number, not the tensor; a total that was back-propagated is no longer the loss."""

import ast
from collections.abc import Iterator
from itertools import islice

from gradsan.fix.kinds import Places, named
from gradsan.fix.places.keeping import Added, added_at, as_number, kept_by, number
from gradsan.fix.places.metering import metered
from gradsan.fix.reading.asking_calls import pass_call
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.expression_text import free_name
from gradsan.source.names import loaded


def _where_kept(program: Program, name: str) -> Iterator[Draft]:
    """The holder gets the number."""
    adding = _adding(program, name)
    if adding is not None:
        yield from kept_by(as_number, program, *adding)


def _where_added(program: Program, name: str) -> Iterator[Draft]:
    """The line that adds to the total, and the pass that was asked of it."""
    adding = _adding(program, name)
    if adding is not None:
        yield from _number_and_loss(program, *adding)
    yield from metered(program)


def _adding(program: Program, name: str) -> tuple[Place, Added] | None:
    """The innermost statement that adds to it, and what it adds."""
    diagnosis = program.diagnosis
    places = program.inward(diagnosis.held or diagnosis.enters or diagnosis.made)
    return next(((place, added) for place in places if (added := added_at(program, place, name)) is not None), None)


def _number_and_loss(program: Program, place: Place, added: Added) -> Iterator[Draft]:
    """The total gets the number, and the pass is asked of what was added to it."""
    draft = Draft()
    loss = place.tree.text(added.value)
    if not isinstance(added.value, ast.Name | ast.Attribute):
        loss = free_name(place.scope, ("loss", "step_loss", "this_loss", "loss_of_this_step"))
        draft.insert_before(place.tree, place.statement, f"{loss} = {place.tree.text(added.value)}")
    kept = number(program, place.tree, added.value, loss)
    if kept is None:
        return
    draft.replace(place.tree, added.value, kept)
    if _ask_of_the_loss(program, place, added.total, loss, draft):
        yield draft


def _ask_of_the_loss(program: Program, place: Place, name: str, added: str, draft: Draft) -> bool:
    """Back-propagate what was added, not the total: in the function in which both are known."""
    asking = ((each, call) for each in program.inward(program.diagnosis.used) if (call := pass_call(each.statement)))
    for passing, call in islice(asking, 1):
        loads = loaded(call, name) if passing.function == place.function else []
        draft.replace_each(passing.tree, dict.fromkeys(loads, added))
        return bool(loads)
    return False


PLACES: Places = named({"kept": _where_kept, "total": _where_added})
