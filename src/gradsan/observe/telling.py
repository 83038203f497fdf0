"""Everything that the log and the live objects add to an incident, found one after the other; a story does without."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType

from gradsan.causes.diagnosing import Named, shown
from gradsan.facts.incident import Edited, Incident, SecondPass
from gradsan.facts.location import Frame
from gradsan.observe.cells import CELLS
from gradsan.observe.guarding import is_ours
from gradsan.observe.naming.culprits import Witness, named
from gradsan.observe.naming.saved import read_through
from gradsan.observe.naming.stored import Stores
from gradsan.observe.naming.trace import Trace
from gradsan.observe.passes import Passes
from gradsan.observe.postmortem import examine_raised
from gradsan.observe.surroundings import surrounded
from gradsan.observe.tried import Case, Tried, beliefs
from gradsan.report import Culprit


@dataclass(frozen=True, slots=True)
class Told:
    """An incident with what could be found out about it."""

    incident: Incident
    named: Named | None = None
    beliefs: tuple[str, ...] = ()  # what the user has done already, and why it does not help
    tried: dict[str, str] = field(default_factory=dict)  # the same, as evidence that a fix can be built on


def told(incident: Incident, witness: Witness, complain: Callable[[str, BaseException], None]) -> Told:
    """All that could be found out. What goes wrong on the way is complained of, and left out."""
    name = None
    try:
        incident, name = named(incident, witness)
    except BaseException as error:
        if not is_ours(error):
            raise
        complain("the name was not found", error)
    try:
        tried = _beliefs(incident, name, witness)
    except BaseException as error:
        if not is_ours(error):
            raise
        complain("what was tried was not found", error)
        tried = ()
    notes = tuple(dict.fromkeys(CELLS.in_words(each.sentence) for each in tried))
    return Told(CELLS.named(surrounded(incident)), name, notes, _as_evidence(tried))


def told_of_reading(
    message: str, passes: Passes, calls: Sequence[tuple[FrameType, int]], complain: Callable[[str, BaseException], None]
) -> Told | None:
    """The same, for an error that came from no pass. `calls`: the user's, each with its line, outermost first."""
    read = None
    try:
        read = read_through(calls)
    except BaseException as error:
        if not is_ours(error):
            raise
        complain("the name was not found", error)
    stack = tuple(Frame(frame.f_code.co_filename, line, frame.f_code.co_qualname) for frame, line in calls)
    incident = examine_raised(message, passes, stack, None if read is None else read.number)
    if incident is None:
        return None
    name = None if read is None else Named(Culprit(read.name, read.holder), certain=True)
    return Told(CELLS.named(incident), name)


def _as_evidence(tried: tuple[Tried, ...]) -> dict[str, str]:
    found = [
        {"what": each.what, "file": shown(each.file), "line": each.line, "name": each.name}
        for each in tried
        if each.what is not None
    ]
    return {"tried": json.dumps(found, separators=(",", ":"))} if found else {}


def _beliefs(incident: Incident, name: Named | None, witness: Witness) -> tuple[Tried, ...]:
    if witness.lines is None or not isinstance(incident, SecondPass | Edited):
        return ()
    old = incident.made or (incident.saver if isinstance(incident, Edited) else None)
    if old is None or old.number is None:
        return ()
    trace = Trace(witness.lines, old.number, None, (old.number,))
    culprit = None if name is None else name.culprit.name
    return beliefs(Case(incident, culprit, trace, Stores(trace), trace.at.get(old.number, ())))
