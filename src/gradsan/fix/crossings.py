"""The other edges over which a failing pass reaches what is old: an edit that treats one of them ends nothing."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradsan.lifecycle.location import Frame, Location
from gradsan.report import Culprit, Diagnosis

_KEY = "crossings"
_OF_ONE_NAME = frozenset({_KEY, "holds", "reached_as", "reached_in", "reached_beside"})


def others(diagnosis: Diagnosis) -> tuple[Diagnosis, ...]:
    """The diagnosis as it would be told of each of the other edges that a name was found for."""
    return tuple(_about(each, diagnosis) for each in _told(diagnosis) if _is_treatable(each))


def all_known(diagnosis: Diagnosis) -> bool:
    """Whether every edge has a name, and came about as the one that the diagnosis is about did."""
    return all(_is_treatable(each) for each in _told(diagnosis))


def were_looked_for(diagnosis: Diagnosis) -> bool:
    """Whether the run was asked for all edges."""
    return _KEY in diagnosis.evidence


def _told(diagnosis: Diagnosis) -> Iterator[Mapping[str, Any]]:
    yield from json.loads(str(diagnosis.evidence.get(_KEY, "[]")))


def _is_treatable(crossing: Mapping[str, Any]) -> bool:
    """What was made once and what every iteration makes are not to be treated in the same manner."""
    return crossing["name"] is not None and bool(crossing["alike"]) and bool(crossing["made"] and crossing["enters"])


def _about(crossing: Mapping[str, Any], diagnosis: Diagnosis) -> Diagnosis:
    shared = {key: value for key, value in diagnosis.evidence.items() if key not in _OF_ONE_NAME}
    return replace(
        diagnosis,
        culprit=Culprit(crossing["name"], crossing["holder"]),
        made=_location(crossing["made"]),
        enters=_location(crossing["enters"]),
        evidence=shared | crossing["live"],
        path=(),
    )


def _location(stack: Sequence[tuple[str, int, str]]) -> Location:
    frames = tuple(Frame(file, line, function) for file, line, function in stack)
    last = frames[-1]
    return Location(last.file, last.line, function=last.function, stack=frames)
