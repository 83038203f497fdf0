"""Fixes that are proved by running the program as it is, and then with each of them until one holds."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gradsan.causes.choosing import is_sure
from gradsan.cli.outcomes import CERTAIN, GONE, Outcome, difference
from gradsan.cli.progress import Progress
from gradsan.cli.rechecking import Rechecker
from gradsan.facts.location import line_of
from gradsan.fix.judging.verdicts import Stage
from gradsan.fix.proving import Proof, Prover, kind_of
from gradsan.fix.refusals.no_edit import no_edit
from gradsan.fix.trials.workshop import Workshop
from gradsan.report import Diagnosis, Fix, Origin

# Where a problem shows no more, by where it was found.
_GONE_FROM: dict[Origin, str] = {
    "run": "the program ran without this problem",
    "check": "the source shows this problem no more, the program ran to its end",
}


@dataclass
class Proving:
    """The program on its path: what is found in it is fixed one after the other, until nothing is left to try.

    `unsafe` also takes what ends a problem and is not verified.
    """

    workshop: Workshop
    stage: Stage
    rechecker: Rechecker
    progress: Progress
    unsafe: bool
    outcomes: list[Outcome] = field(default_factory=list)
    _tried: list[tuple[str, ...]] = field(default_factory=list)  # kinds of problems

    def prove_all(self, known: Sequence[Diagnosis], *, by_report: bool) -> list[Outcome]:
        """What the program shows, then what is known of it besides: by its source, or by a report of another run."""
        before = self.stage.ran.diagnoses
        if not before and not known:
            self._report_nothing()
        self._prove_found()
        for diagnosis in known:
            if any(_is_same(diagnosis, each) for each in before):
                continue
            if by_report:  # nothing would be proved by running a program that does not have it
                self.progress.say(f"{_titled(diagnosis)}: the program was run again, and does not have this problem")
            else:
                self._prove_what_is_left(diagnosis)
        self._report_what_came_back()
        return self.outcomes

    def _report_nothing(self) -> None:
        ran = self.stage.ran
        seen = f"{ran.passes} backward passes and {ran.made} steps"
        self.progress.say(f"the program ran to its end: nothing found in {seen}")

    def _prove_what_is_left(self, diagnosis: Diagnosis) -> None:
        changed = dict(self.stage.changed)
        left = self.rechecker.found_again(diagnosis, changed)
        if left is None:
            self.outcomes.append(Outcome(diagnosis, None, changed, GONE))
        else:
            self.outcomes.append(self._prove(left))
            self._prove_found()

    def _prove_found(self) -> None:
        """Deal with all that the program shows now."""
        first = [kind_of(each) for each in self.stage.ran.diagnoses]
        while (left := self._next()) is not None:
            outcome = self._prove(left)
            note = "" if kind_of(left) in first else " (hidden behind another problem until now)"
            self.outcomes.append(replace(outcome, why=outcome.why + note))

    def _report_what_came_back(self) -> None:
        """Nothing counts as fixed that the program shows again once other problems are fixed."""
        fixed = [kind_of(each.diagnosis) for each in self.outcomes if each.changed is not None]
        for each in self.stage.ran.diagnoses:
            if kind_of(each) in fixed:
                self.outcomes.append(Outcome(each, None, None, "the program shows it again with the fixes made"))

    def _next(self) -> Diagnosis | None:
        return next((each for each in self.stage.ran.diagnoses if kind_of(each) not in self._tried), None)

    def _prove(self, diagnosis: Diagnosis) -> Outcome:
        """What becomes of one problem; the program then is the next stage."""
        self._tried.append(kind_of(diagnosis))
        besides = " (the source shows it; the run did not)" if diagnosis.origin == "check" else ""
        self.progress.say(f"{_titled(diagnosis)}: {diagnosis.message}{besides}")
        persists = self.rechecker.persists
        prover = Prover(self.workshop, self.stage, lambda line: self.progress.say(f"  {line}"), persists)
        chosen = self._chosen(diagnosis, prover)
        if chosen is None:
            closest = next(map(self._with_diff, prover.otherwise), None)
            return Outcome(prover.marked(diagnosis, closest), closest, None, _refusal(prover, diagnosis))
        proof, why = chosen
        fix = self._with_diff(proof)
        self.stage = Stage(proof.ran, proof.changed, self.workshop)
        return Outcome(prover.marked(diagnosis, fix), fix, dict(proof.changed), why)

    def _chosen(self, diagnosis: Diagnosis, prover: Prover) -> tuple[Proof, str] | None:
        """The fix to be made, and how sure it is; None: there is none."""
        verified = prover.prove(diagnosis)
        if verified is not None:
            return verified, f"verified: {_GONE_FROM[diagnosis.origin]}, and {verified.verdict.why}"
        certain = self._certain(diagnosis, prover)
        if certain is not None:
            return certain, f"{CERTAIN}; the command does not reach these lines"
        if not prover.otherwise or not self.unsafe:
            return None
        guess = prover.otherwise[0]
        return guess, f"not verified; taken because of --unsafe: the problem is gone, but {guess.verdict.why}"

    def _certain(self, diagnosis: Diagnosis, prover: Prover) -> Proof | None:
        """A fix of what the source alone shows, and the command does not come to: then the source has to prove it."""
        undecided = [each for each in prover.otherwise if each.verdict.answer == "undecided"]
        sure = (each for each in undecided if is_sure(diagnosis, each.fixes[0]))
        proved = (each for each in sure if self.rechecker.obstacle(diagnosis, dict(each.changed)) is None)
        return next(proved, None) if diagnosis.origin == "check" else None

    def _with_diff(self, proof: Proof) -> Fix:
        return replace(proof.fixes[0], diff=difference(self.workshop.root, self.stage.changed, proof.changed))


def _titled(diagnosis: Diagnosis) -> str:
    return f"{diagnosis.code} {diagnosis.name}"


def _refusal(prover: Prover, diagnosis: Diagnosis) -> str:
    """Why nothing is written, of the first fix that came closest."""
    if prover.otherwise:
        return f"not verified: the problem is gone, but {prover.otherwise[0].verdict.why}; --unsafe takes it"
    if prover.failed:
        return f"no fix ends it: {'; '.join(prover.failed[:3])}"
    return no_edit(diagnosis)


def _is_same(one: Diagnosis, other: Diagnosis) -> bool:
    """Whether source and run report one problem."""
    ours, theirs = one.used or one.made or one.held, other.used or other.made or other.held
    if ours is None or theirs is None:
        return one.code == other.code
    return line_of(ours) == line_of(theirs)
