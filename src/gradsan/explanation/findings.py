"""The diagnoses of a run, folded: a program that fails in the same way a million times keeps one, with its count."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gradsan.facts.details import OpGraph, RunTimeline
from gradsan.report import Diagnosis, Summary


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What is said of a run when it is over."""

    summary: Summary | None = None  # None: nothing was looked at
    silent: tuple[Diagnosis, ...] = ()  # the costliest first
    timeline: RunTimeline | None = None  # for a page
    graph: OpGraph | None = None


class Findings:
    """Diagnoses in the order in which each was first seen."""

    def __init__(self) -> None:
        self._found: dict[str, Diagnosis] = {}

    def __iter__(self) -> Iterator[Diagnosis]:
        return iter(list(self._found.values()))

    def add(self, diagnosis: Diagnosis) -> None:
        """One more; the same problem seen again raises the count of the first."""
        known = self._found.setdefault(diagnosis.fingerprint, diagnosis)
        if known is not diagnosis:
            self._found[diagnosis.fingerprint] = replace(known, count=known.count + 1)
