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
from gradsan.source.tree import Tree, is_simple


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
    draft = Draft()
    for call in asking:
        plain = without_argument(tree.text(call), "retain_graph")
        draft.replace(tree, call, with_argument(plain, "create_graph", "True"))
    return draft


def _differentiating(place: Place) -> Iterator[ast.Call]:
    """The calls of `grad` that are given what a statement computes, or what is computed from that."""
    own = [each for each in place.tree.statements if place.tree.scope(each) is place.scope and is_simple(each)]
    below = sorted((each for each in own if place.tree.line(each) > place.line), key=place.tree.line)
    for statement in dependents(place.statement, below)[1:]:
        call = pass_call(statement)
        if call is not None and called_name(call) == "grad":
            yield call


PLACES: Places = {"earlier pass": _recording_itself}
