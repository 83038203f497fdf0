"""Fixes that the source alone proves: nothing is run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gradsan.causes.choosing import is_sure
from gradsan.check.workers import Exceeded, answers
from gradsan.cli.outcomes import CERTAIN, GUESS, Outcome
from gradsan.cli.rechecking import Rechecker
from gradsan.errors import ChangedFileError
from gradsan.fix.proposing import with_edits
from gradsan.fix.refusals.no_edit import no_edit
from gradsan.fix.writing.applying import OutsideError, edited_files
from gradsan.fix.writing.editing import OverlappingEditsError
from gradsan.report import Diagnosis, Fix
from gradsan.source.disk import note_as_read, what_was_read


@dataclass(frozen=True, slots=True)
class _Answer:
    """From the process in which an edit was made: the files must still say what it has read."""

    outcome: Outcome
    read: Mapping[str, str]


@dataclass
class Proposing:
    """Problems one after the other; each fix is made on top of those before it. `unsafe` allows guesses."""

    root: Path
    rechecker: Rechecker
    unsafe: bool
    outcomes: list[Outcome] = field(default_factory=list)

    def propose(self, known: Sequence[Diagnosis]) -> list[Outcome]:
        """For each, the first fix that the source proves; else the one that comes closest. Each has a budget."""
        asked = ((each, tuple(self._made_so_far())) for each in known)
        for (diagnosis, _), answer in answers(lambda question: self._best(*question), asked, jobs=1):
            if isinstance(answer, Exceeded):
                self.outcomes.append(Outcome(diagnosis, None, None, f"no edit is made: {answer.why}"))
            else:
                self.outcomes.append(answer.outcome)
                note_as_read(answer.read)
        return self.outcomes

    def each_alone(self, diagnosis: Diagnosis) -> list[Outcome]:
        """What becomes of each of its fixes that can be written, if it is made by itself; best first."""
        known = with_edits(diagnosis, self.root)
        return [self._made(known, each, ()) for each in known.fixes if each.edits]

    def _made_so_far(self) -> Iterator[Fix]:
        return (each.fix for each in self.outcomes if each.fix is not None and each.changed is not None)

    def _best(self, diagnosis: Diagnosis, made: Sequence[Fix]) -> "_Answer":
        outcome = self._outcome(with_edits(diagnosis, self.root), made)
        return _Answer(outcome, what_was_read())

    def _outcome(self, diagnosis: Diagnosis, made: Sequence[Fix]) -> Outcome:
        offered = [each for each in diagnosis.fixes if each.edits]
        trusted = [each for each in offered if is_sure(diagnosis, each)]
        tried = [self._made(diagnosis, each, made) for each in (*trusted, *offered[:1])]
        holding = [each for each in tried if each.changed is not None]
        return [*holding, *tried, Outcome(diagnosis, None, None, no_edit(diagnosis))][0]

    def _made(self, diagnosis: Diagnosis, fix: Fix, made: Sequence[Fix]) -> Outcome:
        """What becomes of a fix together with those that are to be made already."""
        try:
            changed = edited_files([edit for each in (*made, fix) for edit in each.edits], self.root)
        except (OverlappingEditsError, ChangedFileError, OutsideError) as error:
            return Outcome(diagnosis, fix, None, str(error))
        obstacle = self.rechecker.obstacle(diagnosis, changed)
        if obstacle is not None and obstacle.fatal:
            return Outcome(diagnosis, fix, None, f"not made: {obstacle.why}", is_wrong=True)
        if obstacle is None and is_sure(diagnosis, fix):
            return Outcome(diagnosis, fix, changed, CERTAIN)
        if self.unsafe:
            return Outcome(diagnosis, fix, changed, GUESS)
        reason = "" if obstacle is None else f" ({obstacle.why})"
        why = f"not certain{reason}: prove it with `gradsan fix --verify`, or take it with --unsafe"
        return Outcome(diagnosis, fix, None, why)
