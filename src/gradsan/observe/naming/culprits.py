"""From an incident to the name that its story is about."""

from collections.abc import Callable, Sequence
from types import FrameType

from gradsan.causes.diagnosing import Named
from gradsan.lifecycle.incident import Edited, Incident, OpFact, SecondPass
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.names import Crossing, carrier
from gradsan.report import Culprit


def culprit_of(
    incident: Incident, frames: Sequence[FrameType], lines: Lines | None, owns: Callable[[str], bool]
) -> Named | None:
    """What carried old ops into the failing pass; None where no name is good enough. `frames`: outermost first."""
    crossing = _crossing(incident)
    if crossing is None:
        return None
    found = carrier(crossing, frames[::-1], lines, owns=owns)
    return None if found is None else Named(Culprit(found.name, found.holder), certain=found.confidence == "certain")


def _crossing(incident: Incident) -> Crossing | None:
    match incident:
        case SecondPass():
            return _between(incident, incident.made, incident.enters, incident.consumed, incident.freeing.begin)
        case Edited(made=OpFact() as made, enters=enters):
            return _between(incident, made, enters, frozenset(), None)
    return None


def _between(
    incident: SecondPass | Edited, made: OpFact, enters: OpFact | None, consumed: frozenset[int], freed: int | None
) -> Crossing | None:
    if made.number is None:
        return None
    return Crossing(
        consumed=consumed,
        made_number=made.number,
        enters_number=None if enters is None else enters.number,
        made=made.stack,
        enters=incident.failing.stack if enters is None else enters.stack,
        freed_number=freed,
    )
