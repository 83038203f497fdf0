"""A baseline: what was there when a project began to be checked, and is not reported until it is touched."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from gradsan.errors import GradsanError
from gradsan.report import Diagnosis
from gradsan.source.bounded import content_of
from gradsan.source.writing import put

_VERSION = 1


class BadBaselineError(GradsanError):
    """A file that was given as a baseline and is none."""


def read_baseline(path: Path) -> Counter[str]:
    """The fingerprints in a baseline, with how often each was found."""
    try:
        content = json.loads(content_of(path))
        return Counter({str(each["fingerprint"]): int(each["count"]) for each in content["diagnoses"]})
    except FileNotFoundError:
        raise BadBaselineError(
            f"there is no baseline {str(path)!r}", "write one with `gradsan check --write-baseline`"
        ) from None
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, AttributeError, RecursionError):
        raise BadBaselineError(
            f"{str(path)!r} is not a baseline", "write one with `gradsan check --write-baseline`"
        ) from None


def write_baseline(path: Path, diagnoses: Iterable[Diagnosis]) -> int:
    """Put down everything that is there now; the answer is how much. What is no baseline is not overwritten."""
    if path.exists():
        read_baseline(path)
    found = list(diagnoses)
    counts = Counter(each.fingerprint for each in found)
    about = {each.fingerprint: each for each in found}
    entries = [
        {"fingerprint": key, "count": counts[key], "code": each.code, "message": each.message}
        for key, each in sorted(about.items())
    ]
    content = {"version": _VERSION, "diagnoses": entries}
    put(path, json.dumps(content, indent=2) + "\n")
    return len(found)


def new_ones(diagnoses: Iterable[Diagnosis], known: Counter[str]) -> list[Diagnosis]:
    """What the baseline does not have."""
    left = Counter(known)
    new = []
    for each in diagnoses:
        if left[each.fingerprint] > 0:
            left[each.fingerprint] -= 1
        else:
            new.append(each)
    return new
