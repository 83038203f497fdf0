"""Keep the graph of a gradient that becomes part of the loss: `create_graph=True` on the call that freed it."""

from collections.abc import Iterator

from gradsan.fix.drafting import Draft
from gradsan.fix.passes import argument, pass_call, with_argument, without_argument
from gradsan.fix.program import Program


def drafts(program: Program) -> Iterator[Draft]:
    """The earlier call, asked to record itself."""
    places = program.places(program.diagnosis.freed)
    place = places[-1] if places else None
    call = None if place is None else pass_call(place.statement)
    if place is None or call is None or argument(call, "create_graph") is not None:
        return
    draft = Draft()
    draft.replace(place.tree, call, with_argument(without_argument(call, "retain_graph"), "create_graph", "True"))
    yield draft
