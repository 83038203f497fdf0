"""Keep the graph of a gradient that becomes part of the loss: `create_graph=True` on the call that created it."""

from collections.abc import Iterator

from gradsan.fix.asking_calls import asking_call
from gradsan.fix.drafting import Draft
from gradsan.fix.kinds import Places
from gradsan.fix.program import Program
from gradsan.source.arguments import with_argument, without_argument
from gradsan.source.names import argument


def _recording_itself(program: Program) -> Iterator[Draft]:
    """The earlier call, asked to record itself."""
    asking = asking_call(program.places(program.diagnosis.freed or program.diagnosis.cut))
    if asking is None or argument(asking[1], "create_graph") is not None:
        return
    place, call = asking
    draft = Draft()
    plain = without_argument(place.tree.text(call), "retain_graph")
    draft.replace(place.tree, call, with_argument(plain, "create_graph", "True"))
    yield draft


PLACES: Places = {"earlier pass": _recording_itself}
