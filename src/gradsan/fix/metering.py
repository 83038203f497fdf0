"""A loss that goes through a meter: `meter.update(loss)`, and then backward on the meter's average."""

from collections.abc import Iterator

import libcst as cst

from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import call_of, loaded, nodes, simple, text
from gradsan.fix.keeping import as_number, number
from gradsan.fix.passes import pass_call
from gradsan.fix.program import Place, Program


def metered(program: Program) -> Iterator[Draft]:
    """The meter is given the number, and the pass is asked of the loss itself."""
    passing = next((each for each in reversed(program.places(program.diagnosis.used)) if each is not None), None)
    if passing is None or pass_call(passing.statement) is None:
        return
    for place in program.places(program.diagnosis.enters):
        call = None if place is None else call_of(place.statement)
        if place is None or call is None or place.frame.function != passing.frame.function:
            continue
        match call:
            case cst.Call(func=cst.Attribute(value=meter), args=[only]):
                yield from _past_the_meter(program, place, passing, text(meter), only.value)
        return


def _past_the_meter(
    program: Program, feeding: Place, passing: Place, meter: str, loss: cst.BaseExpression
) -> Iterator[Draft]:
    tree, draft = feeding.tree, Draft()
    call = pass_call(passing.statement)
    if call is None:
        return
    reading = _reading(feeding, passing, meter)
    if reading is None:  # `meter.average.backward()`
        root = next(
            (each for each in nodes(call) if isinstance(each, cst.Attribute) and text(each.value) == meter), None
        )
        if root is None or not isinstance(loss, cst.Name):
            return
        draft.replace(tree, root, loss)
        if as_number(program, tree, loss, draft):
            yield draft
        return
    name, statement = reading
    draft.insert_before(tree, feeding.statement, f"{name} = {text(loss)}")
    draft.remove(tree, statement)
    kept = number(program, tree, loss, cst.Name(name))
    if kept is not None:
        draft.replace(tree, loss, kept)
        yield draft


def _reading(feeding: Place, passing: Place, meter: str) -> "tuple[str, cst.SimpleStatementLine] | None":
    """`loss = meter.average`, between the two, where `loss` is what is back-propagated."""
    tree = feeding.tree
    first, last = tree.line(feeding.statement), tree.line(passing.statement)
    for statement in tree.block(feeding.statement):
        if not first < tree.line(statement) < last or not isinstance(statement, cst.SimpleStatementLine):
            continue
        match simple(statement):
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                is_read = any(isinstance(each, cst.Attribute) and text(each.value) == meter for each in nodes(value))
                if is_read and loaded(passing.statement, name):
                    return name, statement
    return None
