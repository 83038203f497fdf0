"""How a process appears among those that train with it: it says which it is, and nothing that another has said."""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from gradsan.entry.ranks import this_rank
from gradsan.entry.siblings import Launched, Siblings
from gradsan.report import Diagnosis, Report, Summary

_NOTHING_FOUND = "nothing-found"


class AmongRanks:
    """One in a process. Where it trains alone, it has nothing to add and nothing to leave out."""

    def __init__(self) -> None:
        self._siblings = Siblings()

    def named(self, diagnosis: Diagnosis) -> Diagnosis:
        """With a note of the rank that ran into it."""
        rank = this_rank()
        if rank is None:
            return diagnosis
        from gradsan.show.ranks import seen_on

        return seen_on(diagnosis, [rank.number], rank.of)

    def instead(self, diagnosis: Diagnosis) -> str | None:
        """A line in place of an explanation that another rank gives; None: none does."""
        rank = self._siblings.explained_by(diagnosis.fingerprint)
        same = f"{diagnosis.code} {diagnosis.name}: the same as on rank {rank}, which explains it"
        return None if rank is None else same

    def unsaid(self, found: Iterable[Diagnosis]) -> list[Diagnosis]:
        """Those that no other rank explains."""
        return [self.named(each) for each in found if self._siblings.explained_by(each.fingerprint) is None]

    def says_that_all_is_well(self) -> bool:
        """Whether no other rank has said it; of a process that helps another, nobody asks."""
        is_asked = this_rank() is not None or not self._siblings.have_parent
        return is_asked and self._siblings.explained_by(_NOTHING_FOUND) is None

    def leave(self, found: Sequence[Diagnosis], summary: Summary | None) -> None:
        """Leave a report for whoever started the process, and where reports are wanted."""
        if not self._siblings.are_told:
            return
        from gradsan.explanation.own_report import report_of
        from gradsan.show.json import write

        rank = this_rank()
        torch = getattr(sys.modules.get("torch"), "__version__", None)
        number = None if rank is None else rank.number
        self._siblings.leave(
            write(report_of(found, argv=sys.argv, torch=torch and str(torch), rank=number, summary=summary))
        )

    def confirm(self) -> None:
        """All that this process was to explain has been printed."""
        self._siblings.confirm()


def summary_of_ranks(explained: Callable[[Diagnosis], str]) -> str:
    """What the ranks ran into that this process started: a line each, or what a rank had no time to explain."""
    launched = Launched()
    files = list(launched.reports())
    if not files:
        return ""
    from gradsan.show.ranks import folded, in_a_line

    ranks = [each for each in map(_read, files) if each is not None and each.rank is not None]
    found = [each for report in folded(ranks) for each in report.diagnoses]
    text = "".join(in_a_line(each) if launched.has_shown(each.fingerprint) else explained(each) for each in found)
    launched.forget()
    return text


def _read(file: Path) -> Report | None:
    from gradsan.errors import GradsanError
    from gradsan.show.json import read

    try:
        return read(file)
    except GradsanError:
        return None
