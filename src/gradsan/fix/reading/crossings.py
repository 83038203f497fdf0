"""The other edges over which a failing pass reaches what is old: an edit that treats one of them ends nothing."""

from dataclasses import replace

from gradsan.facts.incident import OpFact
from gradsan.facts.live_evidence import Crossed, LiveEvidence
from gradsan.facts.location import Location
from gradsan.report import Diagnosis


def others(diagnosis: Diagnosis, live: LiveEvidence) -> tuple[tuple[Diagnosis, LiveEvidence], ...]:
    """What would be said of each of the other edges that can be treated as the diagnosis's own is."""
    return tuple(_about(each, diagnosis, live) for each in live.crossings or () if _is_treatable(each))


def all_known(live: LiveEvidence) -> bool:
    """Whether every edge has a name, and came about as the one that the diagnosis is about did."""
    return all(map(_is_treatable, live.crossings or ()))


def _is_treatable(crossed: Crossed) -> bool:
    """What was created once and what every iteration creates are not to be treated in the same manner."""
    return crossed.culprit is not None and crossed.is_alike and bool(crossed.made.stack and crossed.enters.stack)


def _about(crossed: Crossed, diagnosis: Diagnosis, live: LiveEvidence) -> tuple[Diagnosis, LiveEvidence]:
    made, enters = _location(crossed.made), _location(crossed.enters)
    reported = replace(diagnosis, culprit=crossed.culprit, made=made, enters=enters, path=())
    return reported, replace(live, alive=crossed.alive, crossings=None)


def _location(op: OpFact) -> Location:
    last = op.stack[-1]
    return Location(last.file, last.line, function=last.function, stack=op.stack)
