"""Finds the fix that holds: tries the remedies of a diagnosis in their order, and runs the program with each."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from gradsan.causes.silence import places_of
from gradsan.fix.applying import mended
from gradsan.fix.gradients import cut_off, same_gradients
from gradsan.fix.program import Program
from gradsan.fix.proposing import candidates
from gradsan.fix.ranking import ranked
from gradsan.fix.trials import Trial, Workshop
from gradsan.report import Diagnosis, Fix, FixKind

_DEEPEST = 4  # edits one after the other: what an edit uncovers may need one too
_TRIALS = 24

Changed = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Proof:
    """A program that ran clean: what its files say, and the fixes that made it so, one after the other."""

    changed: Changed
    fixes: tuple[Fix, ...]
    cut_off: tuple[str, ...]  # parameters that receive no gradient any more
    ran: Trial  # how it ran; what is still found there was found before

    @property
    def same_gradients(self) -> bool:
        """Whether every optimizer is given what a run with all graphs kept gives it, at every step."""
        return all(fix.safety == "same-gradients" for fix in self.fixes)


@dataclass
class Prover:
    """One search.

    `before` is how the program ran as it is, `now` with the fixes that other problems have got already; `tell` hears of
    every trial; `persists` says whether the source alone still shows a problem, given what the files would say.
    """

    workshop: Workshop
    before: Trial
    now: Trial
    tell: Callable[[str], None]
    persists: Callable[[Diagnosis, Changed], bool] = lambda _diagnosis, _changed: False
    unsafe: bool = False
    failed: list[str] = field(default_factory=list)  # what was tried in vain, in a line each
    _tried: set[FixKind] = field(default_factory=set)
    _seen: list[Changed] = field(default_factory=list)  # programs that were tried; two edits may undo one another
    _trials: int = 0
    _known: tuple[Diagnosis, ...] = ()  # problems of the program that are not this search's

    def prove(self, diagnosis: Diagnosis, changed: Changed) -> Proof | None:
        """The first way that ends without this problem and without a new one, where there is one."""
        self._known = tuple(each for each in self.now.diagnoses if each is not diagnosis)
        return next(self._ways(diagnosis, _Stage(self.now, dict(changed), self.workshop)), None)

    def marked(self, diagnosis: Diagnosis, proved: Fix | None) -> Diagnosis:
        """The diagnosis with what is known of its fixes now: the proved one first, and those that failed."""
        others = [fix for fix in diagnosis.fixes if proved is None or fix.kind != proved.kind]
        known = [replace(fix, verified=False) if fix.kind in self._tried else fix for fix in others]
        return replace(diagnosis, fixes=(*(() if proved is None else (proved,)), *known))

    def _ways(self, diagnosis: Diagnosis, stage: "_Stage", only: FixKind | None = None) -> Iterator[Proof]:
        """Every way that ends well.

        What an edit uncovers gets the same kind of fix first, as the other half of a state does; others are tried on
        top of it only where no kind ends well by itself.
        """
        program = Program(diagnosis, self.workshop.root, changed=stage.changed)
        uncovered: list[tuple[Diagnosis, _Stage]] = []
        for fix in ranked(diagnosis.fixes, program):
            if only is not None and diagnosis.severity == "error" and fix.kind != only:
                continue
            beyond_it: list[tuple[Diagnosis, _Stage]] = []
            for made, files, trial in self._tries(fix, program, stage):
                new = beyond(trial.diagnoses, self._known)
                if trial.status == 0 and not new:
                    if (proof := self._judged(made, files, trial, stage)) is not None:
                        yield proof
                elif len(new) == 1 and not _same(new[0], diagnosis) and len(stage.fixes) + 1 < _DEEPEST:
                    beyond_it.append((new[0], _Stage(trial, files, self.workshop, (*stage.fixes, made))))
            for left, reached in beyond_it:
                yield from self._ways(left, reached, fix.kind)
            uncovered += beyond_it
        if only is None:
            for left, reached in uncovered:
                yield from self._ways(left, reached)

    def _tries(self, fix: Fix, program: Program, stage: "_Stage") -> Iterator[tuple[Fix, dict[str, bytes], Trial]]:
        """Every way of making a fix, and how the program runs with it."""
        for edits in candidates(fix.kind, program):
            if self._trials >= _TRIALS:
                return
            files = mended(edits, self.workshop.root, stage.changed)
            if files not in self._seen:
                self._seen.append(files)
                made = replace(fix, edits=edits, diff="", verified=True)
                trial = self._try(made, files, program.diagnosis)
                if trial is not None:
                    yield made, files, trial

    def _try(self, fix: Fix, files: Changed, diagnosis: Diagnosis) -> Trial | None:
        """How the program runs with it; None where the source still shows the problem, and need not be run."""
        self._trials += 1
        self._tried.add(fix.kind)
        places = ", ".join(f"{edit.file}:{edit.line}" for edit in fix.edits)
        if self.persists(diagnosis, files):
            self._fail(f"{fix.kind} at {places}: the source still has the problem")
            return None
        self.tell(f"{fix.kind} at {places}: running the program with it")
        trial = self.workshop.run(files)
        new = beyond(trial.diagnoses, self._known)
        if trial.status == 0 and not new:
            self.tell(f"{fix.kind} at {places}: clean")
        else:
            self._fail(f"{fix.kind} at {places}: {_outcome(trial, new)}")
        return trial

    def _judged(self, fix: Fix, files: Changed, trial: Trial, stage: "_Stage") -> Proof | None:
        """A clean run is not enough: parameters must still be trained, and a claim must hold."""
        lost = tuple(cut_off(trial.steps, self.before.steps))
        if lost and not self.unsafe:
            self._fail(f"{fix.kind}: {len(lost)} trained parameters would receive no gradient (--unsafe)")
            return None
        if fix.safety == "same-gradients":
            reference = stage.reference()
            if reference is None:
                fix = replace(fix, safety="changes-gradients")
            elif not same_gradients(trial.steps, reference.steps):
                self._fail(f"{fix.kind}: the gradients are not those of the program with all graphs kept")
                return None
        return Proof(files, (*stage.fixes, fix), lost, trial)

    def _fail(self, line: str) -> None:
        self.failed.append(line)
        self.tell(line)


@dataclass
class _Stage:
    """A program on the way to a clean one: as it is, or with some fixes made."""

    ran: Trial
    changed: dict[str, bytes]
    workshop: Workshop
    fixes: tuple[Fix, ...] = ()
    _retained: Trial | None = None

    def reference(self) -> Trial | None:
        """How it runs with all graphs kept; None where it raises even so, and says nothing about gradients.

        A program that ran to its end gives the same gradients either way.
        """
        if self.ran.status == 0:
            return self.ran
        if self._retained is None:
            self._retained = self.workshop.run(self.changed, retain=True)
        return self._retained if self._retained.status == 0 else None


def _same(one: Diagnosis, other: Diagnosis) -> bool:
    """Whether it is the same problem still: the same cause, failing at the same line for the same name."""
    ours, theirs = one.used, other.used
    lines = None if ours is None or theirs is None else ours.source == theirs.source and ours.step == theirs.step
    return one.code == other.code and one.culprit == other.culprit and lines is not False


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


def kind_of(diagnosis: Diagnosis) -> tuple[str, str, str, str]:
    """The same while lines shift and are rewritten: the cause, the name, and the function."""
    place = next(iter(places_of(diagnosis)), None)
    name = "" if diagnosis.culprit is None else diagnosis.culprit.name
    where = ("", "") if place is None else (PurePath(place.file).name, place.function or "")
    return diagnosis.code, name, *where


def _outcome(trial: Trial, new: Iterable[Diagnosis]) -> str:
    if trial.status is None:
        return "it took too long"
    if new:
        return "found " + ", ".join(f"{each.code} {each.name}" for each in new)
    if trial.status != 0:
        last = trial.last_words.strip().splitlines()
        return f"it ended with status {trial.status}" + (f" ({last[-1][:120]})" if last else "")
    return "clean"
