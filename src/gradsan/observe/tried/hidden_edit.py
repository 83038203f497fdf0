"""An edit under `no_grad`: it is not recorded, but the tensor counts it."""

from collections.abc import Iterator

from gradsan.facts.incident import Edited
from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.contexts import unrecorded
from gradsan.observe.naming.edits import edits
from gradsan.observe.tried.belief import Case, place


def found(case: Case) -> Iterator[Tried]:
    """What was tried."""
    incident = case.incident
    if not isinstance(incident, Edited) or incident.by_optimizer or not incident.changed:
        return
    where = incident.changed[-1]
    at = case.trace.last_at(where)
    off = None if at is None else unrecorded(at)
    if at is None or off is None or not any(edits(each, where.file) for each in at.statements):
        return
    switch = place(off.at, off.line)
    yield Tried(f"`{off.written}` at {switch} does not hide the edit: the saved values are changed all the same")
