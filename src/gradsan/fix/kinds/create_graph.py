"""Keep the graph of a gradient that becomes part of the loss: `create_graph=True` on the call that created it."""

import ast
from collections.abc import Iterable, Iterator

from gradsan.fix.kinds import Places
from gradsan.fix.reading.asking_calls import asking_call, pass_call
from gradsan.fix.reading.flow import dependents
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.source.arguments import with_argument, without_argument
from gradsan.source.names import argument, called_name
from gradsan.source.tree import Tree


def _recording_itself(program: Program) -> Iterator[Draft]:
    """The earlier call, asked to record itself; then with those of its function that differentiate what it gives."""
    asking = asking_call(program.places(program.diagnosis.freed or program.diagnosis.cut))
    if asking is None or argument(asking[1], "create_graph") is not None:
        return
    place, call = asking
    yield _recorded(place.tree, [call])
    further = [each for each in _differentiating(place) if argument(each, "create_graph") is None]
    if further:
        yield _recorded(place.tree, [call, *further])


def _recorded(tree: Tree, asking: Iterable[ast.Call]) -> Draft:
    plain = {call: without_argument(tree.text(call), "retain_graph") for call in asking}
    return Draft().replace_each(
        tree, {call: with_argument(code, "create_graph", "True") for call, code in plain.items()}
    )


def _differentiating(place: Place) -> Iterator[ast.Call]:
    """The calls of `grad` that are given what a statement computes, or what is computed from that."""
    for statement in dependents(place.statement, place.own_below)[1:]:
        call = pass_call(statement)
        if call is not None and called_name(call) == "grad":
            yield call


PLACES: Places = {"earlier pass": _recording_itself}
