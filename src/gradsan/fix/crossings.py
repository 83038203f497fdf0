"""The other edges over which a failing pass reaches what is old: an edit that treats one of them ends nothing."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradsan.facts.location import Frame, Location
from gradsan.report import Culprit, Diagnosis

_KEY = "crossings"
_OF_ONE_NAME = frozenset({_KEY, "holds", "reached_as", "reached_in", "reached_beside", "reached_some"})


@dataclass(frozen=True, slots=True)
class _Crossing:
    """One of the edges: what carried the old part over it, and what the run tells of that name."""

    culprit: Culprit
    made: Location
    enters: Location
    live: Mapping[str, str]


def others(diagnosis: Diagnosis) -> tuple[Diagnosis, ...]:
    """The diagnosis as it would be told of each of the other edges that can be treated as its own is."""
    return tuple(_about(each, diagnosis) for each in _told(diagnosis) if each is not None)


def all_known(diagnosis: Diagnosis) -> bool:
    """Whether every edge has a name, and came about as the one that the diagnosis is about did."""
    return None not in _told(diagnosis)


def were_looked_for(diagnosis: Diagnosis) -> bool:
    """Whether the run was asked for all edges."""
    return _KEY in diagnosis.evidence


def _told(diagnosis: Diagnosis) -> list[_Crossing | None]:
    """All of them; None for each that cannot be treated, as for what a report says in a manner of its own."""
    try:
        return [_read(each) for each in json.loads(str(diagnosis.evidence.get(_KEY, "[]")))]
    except (ValueError, TypeError, KeyError):
        return [None]


def _read(crossing: Mapping[str, Any]) -> _Crossing | None:
    """What was made once and what every iteration makes are not to be treated in the same manner."""
    if crossing["name"] is None or not crossing["alike"] or not crossing["made"] or not crossing["enters"]:
        return None
    culprit = Culprit(str(crossing["name"]), crossing["holder"])
    live = {str(key): str(value) for key, value in dict(crossing["live"]).items()}
    return _Crossing(culprit, _location(crossing["made"]), _location(crossing["enters"]), live)


def _about(crossing: _Crossing, diagnosis: Diagnosis) -> Diagnosis:
    shared = {key: value for key, value in diagnosis.evidence.items() if key not in _OF_ONE_NAME}
    return replace(
        diagnosis,
        culprit=crossing.culprit,
        made=crossing.made,
        enters=crossing.enters,
        evidence={**shared, **crossing.live},
        path=(),
    )


def _location(stack: Sequence[tuple[str, int, str]]) -> Location:
    frames = tuple(Frame(str(file), int(line), str(function)) for file, line, function in stack)
    last = frames[-1]
    return Location(last.file, last.line, function=last.function, stack=frames)
