"""Keep the graph of a gradient that becomes part of the loss: `create_graph=True` on the call that made it."""

from collections.abc import Iterator

from gradsan.fix.calls import argument, with_argument, without_argument
from gradsan.fix.drafting import Draft
from gradsan.fix.passes import asking_call
from gradsan.fix.program import Program


def drafts(program: Program) -> Iterator[Draft]:
    """The earlier call, asked to record itself."""
    asking = asking_call(program.places(program.diagnosis.freed or program.diagnosis.cut))
    if asking is None or argument(asking[1], "create_graph") is not None:
        return
    place, call = asking
    draft = Draft()
    draft.replace(place.tree, call, with_argument(without_argument(call, "retain_graph"), "create_graph", "True"))
    yield draft
