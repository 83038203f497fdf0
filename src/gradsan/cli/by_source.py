"""Fixes that the source alone proves: nothing is run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gradsan.causes.choosing import is_sure
from gradsan.cli.outcomes import CERTAIN, GUESS, Outcome
from gradsan.cli.rechecking import Rechecker
from gradsan.errors import ChangedFileError
from gradsan.fix.applying import OutsideError, edited_files
from gradsan.fix.editing import OverlappingEditsError
from gradsan.fix.proposing import with_edits
from gradsan.fix.refusing import no_edit
from gradsan.report import Diagnosis, Fix


@dataclass
class Proposing:
    """Problems one after the other; each fix is made on top of those before it. `unsafe` allows guesses."""

    root: Path
    rechecker: Rechecker
    unsafe: bool
    outcomes: list[Outcome] = field(default_factory=list)

    def propose(self, known: Sequence[Diagnosis]) -> list[Outcome]:
        """For each, the first fix that the source proves; else the one that comes closest."""
        for each in known:
            self.outcomes.append(self._best(with_edits(each, self.root)))
        return self.outcomes

    def _best(self, diagnosis: Diagnosis) -> Outcome:
        offered = [each for each in diagnosis.fixes if each.edits]
        trusted = [each for each in offered if is_sure(diagnosis, each)]
        tried = [self._made(diagnosis, each) for each in (*trusted, *offered[:1])]
        made = [each for each in tried if each.changed is not None]
        return [*made, *tried, Outcome(diagnosis, None, None, no_edit(diagnosis))][0]

    def _made(self, diagnosis: Diagnosis, fix: Fix) -> Outcome:
        """What becomes of a fix together with those that are to be made already."""
        made = [each.fix for each in self.outcomes if each.fix is not None and each.changed is not None]
        try:
            changed = edited_files([edit for each in (*made, fix) for edit in each.edits], self.root)
        except (OverlappingEditsError, ChangedFileError, OutsideError) as error:
            return Outcome(diagnosis, fix, None, str(error))
        obstacle = self.rechecker.obstacle(diagnosis, changed)
        if obstacle is not None and obstacle.fatal:
            return Outcome(diagnosis, fix, None, f"not made: {obstacle.why}")
        if obstacle is None and is_sure(diagnosis, fix):
            return Outcome(diagnosis, fix, changed, CERTAIN)
        if self.unsafe:
            return Outcome(diagnosis, fix, changed, GUESS)
        reason = "" if obstacle is None else f" ({obstacle.why})"
        return Outcome(diagnosis, fix, None, f"not certain{reason}: prove it with --verify, or take it with --unsafe")
