"""Finds the fix that holds: tries the fixes of a diagnosis in their order, and runs the program with each."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from time import monotonic
from typing import TypeVar

from gradsan.causes import cause
from gradsan.causes.meaning import Meaning
from gradsan.causes.silence import places_of
from gradsan.facts.live_evidence import NOTHING_READ
from gradsan.fix.in_time import InTime, made_in_time, ranked_in_time, searched_in_time
from gradsan.fix.judging.given_compared import completed
from gradsan.fix.judging.unsaid import Unsaid, unsaid
from gradsan.fix.judging.verdicts import Stage, Verdict, is_also_meant, is_compared, judge
from gradsan.fix.reading.program import Program
from gradsan.fix.trials.workshop import Trial, Workshop
from gradsan.fix.writing.applying import edited_files
from gradsan.report import Diagnosis, Effects, Fix, FixKind

_DEEPEST = 4  # edits one after the other: what an edit uncovers may need one too
_TRIALS = 24
_SEARCHED = 16  # trials more, of edits that nothing but a trial speaks for
_BEGINS_AGAIN = "what is carried may be to begin again with each step, and then its old values are not to be used"
_SECONDS = 90  # of searching alone: then no further trial begins

Changed = Mapping[str, bytes]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Proof:
    """A program without its problem: what its files say, the fixes that led there, and how sure that is."""

    changed: Changed
    fixes: tuple[Fix, ...]
    verdict: Verdict
    ran: Trial  # how it ran
    new: tuple[Diagnosis, ...]  # what came to light behind the problem


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A fix that was made, and how the program ran with it."""

    fix: Fix
    files: dict[str, bytes]
    trial: Trial
    new: tuple[Diagnosis, ...]  # found in it, and not known before


@dataclass
class Prover:
    """One search.

    `stage` is the program with the fixes that other problems have already; `report` hears of every trial; `persists`
    says whether the source alone still shows a problem, given what the files would say.
    """

    workshop: Workshop
    stage: Stage
    report: Callable[[str], None]
    persists: Callable[[Diagnosis, Changed], bool] = lambda _diagnosis, _changed: False
    now: Callable[[], float] = monotonic
    failed: list[str] = field(default_factory=list)  # what was tried in vain, in a line each
    otherwise: list[Proof] = field(default_factory=list)  # what ends the problem, and is not known to train as meant
    _stays: set[FixKind] = field(default_factory=set)  # kinds that left the problem where it was
    _seen: list[Changed] = field(default_factory=list)  # programs that were tried; two edits may undo one another
    _known: tuple[Diagnosis, ...] = ()  # problems of the program that are not this search's
    _meaning: Meaning = "open"  # what the fix is to mean for the gradients
    _weighs: bool = False  # what is alive is seen in its trials: it is what the problem costs
    _effects: dict[FixKind, Effects] = field(default_factory=dict)  # as seen with the first edit of each kind
    _unsaid: Unsaid | None = None  # what only the author of the program knows
    _ends_at: float | None = None  # when the search is given up
    _searches: bool = False  # what the kinds of fix have reason for was in vain: a trial is to decide alone

    def prove(self, diagnosis: Diagnosis) -> Proof | None:
        """The first path that ends this problem and trains as meant, where there is one."""
        self.stage.about = diagnosis
        self._known = tuple(each for each in self.stage.ran.diagnoses if each is not diagnosis)
        fixes = self._in_time("", ranked_in_time(diagnosis.fixes, self._program(diagnosis, self.stage)))
        if not fixes:
            return None
        self._meaning = cause(diagnosis.code).meaning(fixes[0].kind, diagnosis.evidence)
        self._weighs = cause(diagnosis.code).grows
        self._unsaid = unsaid(self._program(diagnosis, self.stage), self._meaning)
        return next(self._paths(diagnosis, self.stage, ()), None) or self._searched(diagnosis)

    def _searched(self, diagnosis: Diagnosis) -> Proof | None:
        """The first of many edits that trains as meant, where there is a run to compare it with."""
        has_failed = diagnosis.severity == "error" and self.stage.fails
        if not has_failed or (self._unsaid and not self._unsaid.other) or not is_compared(self._meaning, self.stage):
            return None
        self._searches, self._ends_at = True, self.now() + _SECONDS
        return next(self._paths(diagnosis, self.stage, ()), None)

    def marked(self, diagnosis: Diagnosis, proved: Fix | None) -> Diagnosis:
        """The diagnosis with what is known of its fixes now: the proved one first, and those that leave the problem."""
        others = [fix for fix in diagnosis.fixes if proved is None or fix.kind != proved.kind]
        known = [self._as_tried(fix) for fix in others]
        notes = tuple(f"{each.fixes[-1].kind} ends the problem, but {each.verdict.why}" for each in self.otherwise)
        fixes = (*(() if proved is None else (proved,)), *known)
        return replace(diagnosis, fixes=fixes, notes=(*diagnosis.notes, *dict.fromkeys(notes)))

    def _as_tried(self, fix: Fix) -> Fix:
        """What was predicted of a fix is not to stand beside what was seen of it."""
        tried = self._effects.get(fix.kind, Effects())
        seen = Effects() if tried.seen is None else tried
        if fix.kind in self._stays:
            return replace(fix, verified=False, effects=seen)
        return fix if tried.seen is None else replace(fix, effects=tried)

    def _with_what_was_seen(self, fix: Fix, trial: Trial) -> Fix:
        """The fix with what a run with it showed to be alive, beside a run without it."""
        is_comparable = self._weighs and trial.status == self.stage.ran.status
        seen = self.stage.seen(trial) if is_comparable else None
        if seen is None:
            return fix
        memory = seen.with_fix
        effects = replace(fix.effects, saved_bytes=memory.saved_bytes, kept_bytes=memory.bytes_a_step, seen=seen)
        return replace(fix, effects=effects)

    def _paths(
        self, diagnosis: Diagnosis, stage: Stage, made: tuple[Fix, ...], only: FixKind | None = None
    ) -> Iterator[Proof]:
        """Every path that ends well.

        What stops the program at the same place gets the same kind of fix first, as the other half of a state does;
        others are tried on top of it only where no kind ends well by itself. What is left of a silent problem gets no
        other kind at all: one half of a value would be a constant, and the other would be trained.
        """
        program = self._program(diagnosis, stage)
        uncovered: list[tuple[Diagnosis, Stage, tuple[Fix, ...]]] = []
        fixes = self._in_time("", ranked_in_time(diagnosis.fixes, program))
        for fix in filter(lambda each: only in (None, each.kind), fixes):
            halves: list[tuple[Diagnosis, Stage, tuple[Fix, ...]]] = []
            for each in self._tries(fix, program, stage):
                so_far = (*made, each.fix)
                if self._ends(each, diagnosis):
                    so_far = (self._with_what_was_seen(so_far[0], each.trial), *so_far[1:])
                    verdict = self._verdict(each.trial, so_far)
                    proof = self._judged(Proof(each.files, so_far, verdict, each.trial, each.new))
                    if proof is not None:
                        yield proof
                elif self._is_other_half(each, diagnosis) and len(so_far) < _DEEPEST:
                    halves.append((each.new[0], Stage(each.trial, each.files, self.workshop), so_far))
            for left, reached, so_far in halves:
                yield from self._paths(left, reached, so_far, fix.kind)
            uncovered += halves
        others = [each for each in uncovered if diagnosis.severity == "error" or each[0].code != diagnosis.code]
        for left, reached, so_far in others if only is None else ():
            yield from self._paths(left, reached, so_far)

    def _verdict(self, trial: Trial, fixes: tuple[Fix, ...]) -> Verdict:
        """Of all edits at once. What trains as meant may still be meant otherwise."""
        found = judge(trial, self._meaning, self.stage)
        if found.agrees and not is_compared(self._meaning, self.stage) and not all(map(self._means_it, fixes)):
            return Verdict("undecided", _BEGINS_AGAIN)
        if not found.agrees or self._unsaid is None:
            return found
        other = self._unsaid.other
        is_open = other is None or is_also_meant(trial, other, self.stage)
        return Verdict("undecided", self._unsaid.why) if is_open else found

    def _means_it(self, fix: Fix) -> bool:
        """Whether a kind of fix means by itself what is meant here; there is no run that could show it of another."""
        about = self.stage.about
        return about is None or cause(about.code).meaning(fix.kind, about.evidence) == self._meaning

    def _is_other_half(self, attempt: _Attempt, diagnosis: Diagnosis) -> bool:
        """Whether another problem came to light; where all edits are tried, one with the same cause."""
        if len(attempt.new) != 1 or _same(attempt.new[0], diagnosis):
            return False
        return not self._searches or attempt.new[0].code == diagnosis.code

    def _program(self, diagnosis: Diagnosis, stage: Stage) -> Program:
        """The program of a stage, as a diagnosis speaks of it and as it was when it failed there."""
        live = stage.ran.live.get(diagnosis.fingerprint, NOTHING_READ)
        return Program(diagnosis, self.workshop.root, changed=stage.changed, live=live)

    def _ends(self, attempt: _Attempt, diagnosis: Diagnosis) -> bool:
        """Whether the problem is gone, and the program came further than before; what is found then lay behind it."""
        trial, before = attempt.trial, self.stage.ran
        if diagnosis.severity != "error":
            is_gone = all(kind_of(each) != kind_of(diagnosis) for each in attempt.new)
            is_compared = self._meaning not in (
                "open",
                "again",
                "begun",
                "beside",
            )  # else what is found may well come from the edit
            return trial.status == before.status and is_gone and (is_compared or not attempt.new)
        if any(_same(each, diagnosis) or kind_of(each) == kind_of(diagnosis) for each in attempt.new):
            return False  # later, or at another line: what is left of it needs an edit too
        if trial.status == 0:
            return True
        came_further = len(completed(trial.steps)) > len(completed(before.steps)) or trial.passes > before.passes
        return bool(attempt.new) and came_further

    def _tries(self, fix: Fix, program: Program, stage: Stage) -> Iterator[_Attempt]:
        """Every way of making a fix, and how the program runs with it."""
        most = _TRIALS + _SEARCHED if self._searches else _TRIALS
        made = searched_in_time if self._searches else made_in_time
        for edits in self._in_time(f"{fix.kind}: ", made(fix.kind, program, most=most)):
            if len(self._seen) >= most or self._is_given_up():
                return
            files = edited_files(edits, self.workshop.root, stage.changed)
            if files not in self._seen:
                self._seen.append(files)
                effects = fix.effects if edits == fix.edits else Effects()
                tried = replace(fix, edits=edits, diff="", effects=effects, verified=True)
                attempt = self._try(tried, files, program.diagnosis)
                if attempt is not None:
                    yield attempt

    def _is_given_up(self) -> bool:
        """Whether the time for searching is over; that is said once, before all that was tried."""
        if self._ends_at is None or self.now() < self._ends_at:
            return False
        line = f"given up after {len(self._seen)} trials: {_SECONDS} s of searching brought no fix that is verified"
        if line not in self.failed:
            self.failed.insert(0, line)
            self.report(line)
        return True

    def _try(self, fix: Fix, files: dict[str, bytes], diagnosis: Diagnosis) -> _Attempt | None:
        """How the program runs with it; None where the source still shows the problem, and need not be run."""
        places = ", ".join(edit.where for edit in fix.edits)
        if self.persists(diagnosis, files):
            self._stays.add(fix.kind)
            self._fail(f"{fix.kind} at {places}: the source still has the problem")
            return None
        self.report(f"{fix.kind} at {places}: running the program with it")
        trial = self.workshop.run(files, weighs=self._weighs)
        fix = self._with_what_was_seen(fix, trial)
        self._effects.setdefault(fix.kind, fix.effects)
        attempt = _Attempt(fix, files, trial, tuple(beyond(trial.diagnoses, self._known)))
        if self._ends(attempt, diagnosis):
            rest = f", then {_found(attempt.new)}" if attempt.new else ""
            self.report(f"{fix.kind} at {places}: the problem is gone{rest}")
            return attempt
        self._stays.add(fix.kind)
        self._fail(f"{fix.kind} at {places}: {_outcome(attempt)}")
        return attempt

    def _judged(self, proof: Proof) -> Proof | None:
        """A program that runs is not enough: it must train as meant."""
        kind = proof.fixes[-1].kind
        self._stays.discard(kind)
        if proof.verdict.agrees:
            proof = self._with_gradients(proof)
            self.report(f"{kind}: {proof.verdict.why}")
            return proof
        fixes = (*proof.fixes[:-1], replace(proof.fixes[-1], verified=None))
        self.otherwise.append(replace(proof, fixes=fixes))
        self.otherwise.sort(key=lambda each: each.verdict.answer == "differs")  # what may be meant comes first
        self._fail(f"{kind}: the problem is gone, but {proof.verdict.why}")
        return None

    def _with_gradients(self, proof: Proof) -> Proof:
        """What was compared with the program as it is, and agrees, changes nobody's gradient."""
        if self._meaning != "same" or self.stage.fails:
            return proof
        first = replace(proof.fixes[0], effects=replace(proof.fixes[0].effects, parameters_changed=()))
        return replace(proof, fixes=(first, *proof.fixes[1:]))

    def _in_time(self, whose: str, answer: InTime[T]) -> tuple[T, ...]:
        if answer.exceeded:
            self._fail(f"{whose}no edit is made: {answer.exceeded}")
        return answer.found

    def _fail(self, line: str) -> None:
        self.failed.append(line)
        self.report(line)


def _same(one: Diagnosis, other: Diagnosis) -> bool:
    """Whether it is the same problem still: the same cause, failing at the same line for the same name.

    What two lines edit are two problems, and so are what two functions use again, be it called the same in both.
    """
    ours, theirs = one.used, other.used
    lines = None if ours is None or theirs is None else ours.source == theirs.source and ours.step == theirs.step
    edits = None if one.changed is None or other.changed is None else one.changed.source == other.changed.source
    is_alike = one.code == other.code and one.culprit == other.culprit and _using(one) == _using(other)
    return is_alike and lines is not False and edits is not False


def _using(diagnosis: Diagnosis) -> str | None:
    """The function that uses again what is old."""
    return None if diagnosis.enters is None else diagnosis.enters.function


def beyond(found: Iterable[Diagnosis], known: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Those that were not known: more of a kind than there were, be it at other lines."""
    left = Counter(map(kind_of, known))
    new = []
    for each in found:
        if left[kind_of(each)] > 0:
            left[kind_of(each)] -= 1
        else:
            new.append(each)
    return new


def kind_of(diagnosis: Diagnosis) -> tuple[str, ...]:
    """The same while lines shift and are rewritten: the cause, the name, and the functions."""
    place = next(iter(places_of(diagnosis)), None)
    name = "" if diagnosis.culprit is None else diagnosis.culprit.name
    where = ("", "") if place is None else (PurePath(place.file).name, place.function or "")
    return diagnosis.code, name, *where, _using(diagnosis) or ""


def _found(diagnoses: Iterable[Diagnosis]) -> str:
    return "found " + ", ".join(f"{each.code} {each.name}" for each in diagnoses)


def _outcome(attempt: _Attempt) -> str:
    trial = attempt.trial
    if trial.status is None:
        return "it took too long"
    if attempt.new:
        return _found(attempt.new)
    last = [line for line in trial.last_words.strip().splitlines() if not line.startswith("gradsan:")]
    return f"it ended with status {trial.status}" + (f" ({last[-1][:120]})" if last else "")
