"""Keep the number, not the tensor; a total that was back-propagated is no longer the loss."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import libcst as cst

from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import assigned_names, loaded, method, nodes, same_text, simple, text
from gradsan.fix.metering import metered
from gradsan.fix.passes import pass_call
from gradsan.fix.program import Place, Program

_PUTTING = frozenset({"append", "appendleft", "add", "insert", "put", "push"})


@dataclass(frozen=True, slots=True)
class Added:
    """What a statement adds to a total or puts into a container, and how it writes that."""

    value: cst.BaseExpression
    total: str


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
        if diagnosis.code == "GS105":
            yield from _number_and_loss(program, place, added)
        else:
            yield from _numbers(program, place, added)
        break
    if diagnosis.code == "GS105":
        yield from metered(program)


def _number_and_loss(program: Program, place: Place, added: Added) -> Iterator[Draft]:
    """The total gets the number, and the pass is asked of what was added to it."""
    draft = Draft()
    loss = added.value
    if not isinstance(loss, cst.Name | cst.Attribute):
        loss = cst.Name(_free_name(place))
        draft.insert_before(place.tree, place.statement, f"{loss.value} = {text(added.value)}")
    draft.replace(place.tree, added.value, method(loss, "item"))
    if _ask_of_the_loss(program, place, added.total, loss, draft):
        yield draft


def _numbers(program: Program, place: Place, added: Added) -> Iterator[Draft]:
    """What is kept as a number: the thing itself, losses in a dict or tuple, or in that which a function returns."""
    kept = list(_tensors(added.value, _losses(program, place)))
    if kept:
        yield _with_items(place, kept)
    if isinstance(added.value, cst.Dict | cst.Tuple | cst.List):
        return
    for maker in reversed(program.places(program.diagnosis.made)):
        if maker is not None and maker.frame.function != place.frame.function and (inside := _returned(maker)):
            yield _with_items(maker, inside)
            break
    if not kept:
        yield _with_items(place, [added.value])


def _with_items(place: Place, tensors: Iterable[cst.BaseExpression]) -> Draft:
    draft = Draft()
    for each in tensors:
        draft.replace(place.tree, each, method(each, "item"))
    return draft


def _losses(program: Program, place: Place) -> set[str]:
    """The names that the function gives to what is held: those that the making line assigns."""
    for maker in reversed(program.places(program.diagnosis.made)):
        if maker is not None and maker.frame.function == place.frame.function:
            return assigned_names(maker.statement)
    return set()


def _tensors(value: cst.BaseExpression, losses: set[str]) -> Iterator[cst.BaseExpression]:
    """The names of losses that stand by themselves in a dict, a tuple or a list; the whole, if it is no such thing."""
    match value:
        case cst.Dict(elements=elements):
            inner = [each.value for each in elements]
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            inner = [each.value for each in elements]
        case cst.Call(func=cst.Name(value="dict"), args=args):
            inner = [each.value for each in args]
        case cst.Name(value=name) if name in losses or not losses:
            yield value
            return
        case _:
            return
    for each in inner:
        if not isinstance(each, cst.Name) or each.value in losses:
            yield from _tensors(each, losses)


def _returned(maker: Place) -> list[cst.BaseExpression]:
    """The loss in what the function that made it hands out together with others: `return {"loss": loss}`."""
    tree, names = maker.tree, assigned_names(maker.statement)
    scope = tree.scope(maker.statement)
    found: list[cst.BaseExpression] = []
    for statement in tree.statements:
        match simple(statement):
            case cst.Return(value=cst.BaseExpression() as value) if tree.scope(statement) is scope:
                found += [] if isinstance(value, cst.Name) else _tensors(value, names)
    return found


def _added(place: Place, name: str) -> Added | None:
    """What the statement adds to the total or puts into the container; an item of it is written `name[…]`."""

    def is_it(written: cst.BaseExpression) -> bool:
        whole = written.value if isinstance(written, cst.Subscript) else written
        return same_text(written, name) or same_text(whole, name)

    match simple(place.statement):
        case cst.AugAssign(target=target, value=value) if is_it(target):
            return Added(value, text(target))
        case cst.Assign(value=cst.BinaryOperation(left=left, right=right)) if is_it(left):
            return Added(right, text(left))
        case cst.Assign(value=cst.BinaryOperation(left=left, right=right)) if is_it(right):
            return Added(left, text(right))
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)], value=value) if is_it(target):
            return Added(value, text(target))
        case cst.Expr(value=cst.Call(func=cst.Attribute(value=base, attr=cst.Name(value=method_name)), args=args)) if (
            is_it(base) and method_name in _PUTTING and args
        ):
            return Added(args[-1].value, text(base))
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
