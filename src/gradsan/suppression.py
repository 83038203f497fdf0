"""`# gradsan: ignore[GS302]` in the source: what the author of a program has decided to live with."""

import linecache
import re
from collections.abc import Callable

from gradsan.lifecycle.location import Location
from gradsan.report import Diagnosis

# Codes or names in brackets; without brackets, all of them. A reason may follow.
_COMMENT = re.compile(r"#\s*gradsan:\s*ignore(?:\[([^\]]*)\])?")


def ignored_in(line: str) -> Callable[[Diagnosis], bool]:
    """Which diagnoses a line of source asks not to be told."""
    found = _COMMENT.search(line)
    if found is None:
        return lambda _: False
    if found[1] is None:
        return lambda _: True
    listed = {each.strip().lower() for each in found[1].split(",")}
    return lambda diagnosis: diagnosis.code.lower() in listed or diagnosis.name in listed


def is_suppressed(diagnosis: Diagnosis) -> bool:
    """Whether a comment on one of its lines, or alone on the line above, asks not to be told."""
    places = (diagnosis.used, diagnosis.held, diagnosis.made, diagnosis.cut, diagnosis.changed, diagnosis.enters)
    return any(ignored_in(line)(diagnosis) for place in places if place is not None for line in _lines_of(place))


def _lines_of(place: Location) -> tuple[str, ...]:
    above = linecache.getline(place.file, place.line - 1) if place.line > 1 else ""
    return (linecache.getline(place.file, place.line), *([above] if above.lstrip().startswith("#") else []))
