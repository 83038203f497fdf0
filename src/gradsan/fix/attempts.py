"""What the user has tried already, as a diagnosis tells of it."""

import json
from dataclasses import dataclass

from gradsan.report import Diagnosis


@dataclass(frozen=True, slots=True)
class Attempt:
    """A line that looks like the fix and is none: a result that is dropped, half of a state that is cut."""

    what: str
    file: str
    line: int
    name: str  # what a fix built on it would treat, as that line would write it


def attempts(diagnosis: Diagnosis) -> tuple[Attempt, ...]:
    """Those on which a fix can be built; none where a report says it in a manner that nobody here writes."""
    try:
        found = json.loads(str(diagnosis.evidence.get("tried", "[]")))
        return tuple(
            Attempt(str(each["what"]), str(each["file"]), int(each["line"]), str(each["name"])) for each in found
        )
    except (ValueError, TypeError, KeyError):
        return ()
