"""Take `retain_graph=True` out of a pass whose graph no other pass walks."""

from collections.abc import Iterator

from gradsan.fix.kinds import Places
from gradsan.fix.reading.program import Program
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.retaining import stop_retaining


def _without_the_argument(program: Program) -> Iterator[Draft]:
    """The innermost call on the path to the pass that has the argument."""
    draft = Draft()
    if stop_retaining(program, draft):
        yield draft


PLACES: Places = {"later pass": _without_the_argument}
