"""A loss that goes through a meter: `meter.update(loss)`, and then backward on the meter's average."""

import ast
from collections.abc import Iterator
from itertools import islice

from gradsan.fix.places.keeping import number
from gradsan.fix.reading.asking_calls import pass_call
from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.source.names import call_of, given, loaded, nodes
from gradsan.source.tree import Statement, same_as


def metered(program: Program) -> Iterator[Draft]:
    """The meter is given the number, and the pass is asked of the loss itself."""
    passing = program.innermost(program.diagnosis.used)
    if passing is None or pass_call(passing.statement) is None:
        return
    here = [each for each in program.known(program.diagnosis.enters) if each.function == passing.function]
    calling = ((each, call) for each in here if (call := call_of(each.statement)) is not None)
    for place, call in islice(calling, 1):
        match call.func, given(call):
            case ast.Attribute(value=meter), [only]:
                yield from _past_the_meter(program, place, passing, place.text(meter), only)


def _past_the_meter(program: Program, feeding: Place, passing: Place, meter: str, loss: ast.expr) -> Iterator[Draft]:
    tree, draft = feeding.tree, Draft()
    reading = _reading(feeding, passing, meter)
    if reading is None:
        return
    name, statement = reading
    draft.insert_before(tree, feeding.statement, f"{name} = {tree.text(loss)}")
    draft.remove(tree, statement)
    kept = number(program, tree, loss, name)
    if kept is not None:
        draft.replace(tree, loss, kept)
        yield draft


def _members(code: ast.AST, meter: str) -> Iterator[ast.Attribute]:
    """The attributes and methods of the meter that are asked for."""
    return (each for each in only(ast.Attribute, nodes(code)) if same_as(each.value, meter))


def _reading(feeding: Place, passing: Place, meter: str) -> "tuple[str, Statement] | None":
    """`loss = meter.average`, between the two, where `loss` is what is back-propagated."""
    between = [each for each in feeding.below if feeding.tree.line(each) < passing.line]
    for statement in between:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if any(_members(value, meter)):
                if loaded(passing.statement, name):
                    return name, statement
    return None
