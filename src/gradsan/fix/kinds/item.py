"""Keep the number, not the tensor; a total that was back-propagated is no longer the loss."""

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import loaded, method, nodes, simple, text
from gradsan.fix.passes import pass_call
from gradsan.fix.program import Place, Program


def drafts(program: Program) -> Iterator[Draft]:
    """The line that adds to the total, and the pass that was asked of it."""
    diagnosis = program.diagnosis
    if diagnosis.culprit is None:
        return
    name = diagnosis.culprit.name
    for place in reversed(program.places(diagnosis.held or diagnosis.enters or diagnosis.made)):
        added = None if place is None else _added(place, name)
        if place is None or added is None:
            continue
        draft = Draft()
        loss = added
        if diagnosis.code == "GS105" and not isinstance(added, cst.Name | cst.Attribute):
            loss = cst.Name(_free_name(place))
            draft.insert_before(place.tree, place.statement, f"{loss.value} = {text(added)}")
        draft.replace(place.tree, added, method(loss, "item"))
        if diagnosis.code != "GS105" or _ask_of_the_loss(program, place, name, loss, draft):
            yield draft
        return


def _added(place: Place, name: str) -> cst.BaseExpression | None:
    """What the statement adds to the total or puts into the container."""
    match simple(place.statement):
        case cst.AugAssign(target=target, value=value) if text(target) == name:
            return value
        case cst.Assign(value=cst.BinaryOperation(left=left, right=right)) if text(left) == name:
            return right
        case cst.Assign(value=cst.BinaryOperation(left=left, right=right)) if text(right) == name:
            return left
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript(value=base))], value=value) if (
            text(base) == name
        ):
            return value
        case cst.Expr(value=cst.Call(func=cst.Attribute(value=base, attr=cst.Name(value="append")), args=[only])) if (
            text(base) == name
        ):
            return only.value
    return None


def _ask_of_the_loss(program: Program, place: Place, name: str, added: cst.BaseExpression, draft: Draft) -> bool:
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
    taken = {each.value for each in nodes(place.tree.scope(place.statement)) if isinstance(each, cst.Name)}
    return next(name for name in ("loss", "step_loss", "this_loss", "loss_of_this_step") if name not in taken)
