"""Keep the number, not the tensor; a total that was back-propagated is no longer the loss."""

import ast
from collections.abc import Iterator

from gradsan.fix.drafting import Draft
from gradsan.fix.keeping import Added, added_at, as_number, kept_by, number
from gradsan.fix.metering import metered
from gradsan.fix.passes import pass_call
from gradsan.fix.program import Place, Program
from gradsan.source.names import loaded, nodes


def drafts(program: Program) -> Iterator[Draft]:
    """The line that adds to the total, and the pass that was asked of it."""
    diagnosis = program.diagnosis
    if diagnosis.culprit is None:
        return
    name = diagnosis.culprit.name
    for place in reversed(program.places(diagnosis.held or diagnosis.enters or diagnosis.made)):
        added = None if place is None else added_at(program, place, name)
        if place is None or added is None:
            continue
        if diagnosis.code == "GS105":
            yield from _number_and_loss(program, place, added)
        else:
            yield from kept_by(as_number, program, place, added)
        break
    if diagnosis.code == "GS105":
        yield from metered(program)


def _number_and_loss(program: Program, place: Place, added: Added) -> Iterator[Draft]:
    """The total gets the number, and the pass is asked of what was added to it."""
    draft = Draft()
    loss = place.tree.text(added.value)
    if not isinstance(added.value, ast.Name | ast.Attribute):
        loss = _free_name(place)
        draft.insert_before(place.tree, place.statement, f"{loss} = {place.tree.text(added.value)}")
    kept = number(program, place.tree, added.value, loss)
    if kept is None:
        return
    draft.replace(place.tree, added.value, kept)
    if _ask_of_the_loss(program, place, added.total, loss, draft):
        yield draft


def _ask_of_the_loss(program: Program, place: Place, name: str, added: str, draft: Draft) -> bool:
    """Back-propagate what was added, not the total: in the function in which both are known."""
    for passing in reversed(program.places(program.diagnosis.used)):
        call = None if passing is None else pass_call(passing.statement)
        if passing is None or call is None:
            continue
        if passing.frame.function != place.frame.function:
            return False
        loads = loaded(call, name)
        for load in loads:
            draft.replace(passing.tree, load, added)
        return bool(loads)
    return False


def _free_name(place: Place) -> str:
    taken = {each.id for each in nodes(place.tree.scope(place.statement)) if isinstance(each, ast.Name)}
    return next(name for name in ("loss", "step_loss", "this_loss", "loss_of_this_step") if name not in taken)
