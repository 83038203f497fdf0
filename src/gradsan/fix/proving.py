"""Finds the fix that holds: tries the remedies of a diagnosis in their order, and runs the program with each."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from gradsan.fix.applying import mended
from gradsan.fix.program import Program
from gradsan.fix.proposing import candidates
from gradsan.fix.ranking import ranked
from gradsan.fix.trials import Trial, Workshop, cut_off, same_gradients
from gradsan.report import Diagnosis, Edit, Fix, FixKind

_DEEPEST = 4  # edits one after the other: what an edit uncovers may need one too
_TRIALS = 24

# Kinds that leave every gradient as a run with all graphs kept would have it; others change what is computed.
_SAME: frozenset[FixKind] = frozenset({"combine-losses", "retain-graph"})

Changed = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Proof:
    """A program that ran clean: what its files say, and the fixes that made it so, one after the other."""

    changed: Changed
    fixes: tuple[Fix, ...]
    cut_off: tuple[str, ...]  # parameters that receive no gradient any more
    same_gradients: bool | None  # None: not claimed, or nothing to compare with


@dataclass
class Prover:
    """One search. `tell` hears of every trial; `before` is how the program ran as it is."""

    workshop: Workshop
    before: Trial
    tell: Callable[[str], None]
    unsafe: bool = False
    failed: list[str] = field(default_factory=list)  # what was tried in vain, in a line each
    _tried: set[FixKind] = field(default_factory=set)
    _seen: list[Changed] = field(default_factory=list)  # programs that were tried; two edits may undo one another
    _trials: int = 0
    _reference: Trial | None = None

    def prove(self, diagnosis: Diagnosis, changed: Changed) -> Proof | None:
        """The first way that ends clean, where there is one."""
        return next(self._ways(diagnosis, dict(changed), ()), None)

    def marked(self, diagnosis: Diagnosis, proved: Fix | None) -> Diagnosis:
        """The diagnosis with what is known of its fixes now: the proved one first, and those that failed."""
        others = [fix for fix in diagnosis.fixes if proved is None or fix.kind != proved.kind]
        known = [replace(fix, verified=False) if fix.kind in self._tried else fix for fix in others]
        return replace(diagnosis, fixes=(*(() if proved is None else (proved,)), *known))

    def _ways(self, diagnosis: Diagnosis, changed: dict[str, bytes], so_far: tuple[Fix, ...]) -> Iterator[Proof]:
        program = Program(diagnosis, self.workshop.root, changed=changed)
        for fix in ranked(diagnosis.fixes, program):
            uncovered: list[tuple[Diagnosis, dict[str, bytes], Fix]] = []
            for edits in candidates(fix.kind, program):
                if self._trials >= _TRIALS:
                    return
                files = mended(edits, self.workshop.root, changed)
                if files in self._seen:
                    continue
                self._seen.append(files)
                trial = self._try(fix, edits, files)
                made = Fix(fix.kind, fix.title, fix.safety, edits, verified=True)
                if trial.is_clean and (proof := self._judged(diagnosis, made, files, trial, so_far)) is not None:
                    yield proof
                left = next((each for each in trial.diagnoses if not _same(each, diagnosis)), None)
                if left is not None and len(trial.diagnoses) == 1:
                    uncovered.append((left, files, made))
            if len(so_far) + 1 < _DEEPEST:
                for left, files, made in uncovered:
                    yield from self._ways(left, files, (*so_far, made))

    def _try(self, fix: Fix, edits: tuple[Edit, ...], files: Changed) -> Trial:
        self._trials += 1
        self._tried.add(fix.kind)
        places = ", ".join(f"{edit.file}:{edit.line}" for edit in edits)
        trial = self.workshop.run(files)
        outcome = _outcome(trial)
        self.tell(f"{fix.kind} at {places}: {outcome}")
        if not trial.is_clean:
            self.failed.append(f"{fix.kind} at {places}: {outcome}")
        return trial

    def _judged(
        self, diagnosis: Diagnosis, fix: Fix, files: Changed, trial: Trial, so_far: tuple[Fix, ...]
    ) -> Proof | None:
        """A clean run is not enough: parameters must still be trained, and a claim must hold."""
        lost = tuple(cut_off(trial, self.before))
        if lost and not self.unsafe:
            self.failed.append(f"{fix.kind}: {len(lost)} trained parameters would receive no gradient (--unsafe)")
            self.tell(self.failed[-1])
            return None
        same = None
        if fix.kind in _SAME and diagnosis.severity == "error" and not so_far:
            if self._reference is None:
                self._reference = self.workshop.run({}, retain=True)
            same = same_gradients(trial, self._reference)
            if same is False:
                self.failed.append(f"{fix.kind}: the gradients are not those of the program with all graphs kept")
                self.tell(self.failed[-1])
                return None
        return Proof(files, (*so_far, fix), lost, same)


def _same(one: Diagnosis, other: Diagnosis) -> bool:
    """Whether it is the same problem still: the same cause, failing at the same line for the same name."""
    ours, theirs = one.used, other.used
    lines = None if ours is None or theirs is None else ours.source == theirs.source and ours.step == theirs.step
    return one.code == other.code and one.culprit == other.culprit and lines is not False


def _outcome(trial: Trial) -> str:
    if trial.status is None:
        return "it took too long"
    if trial.diagnoses:
        return "found " + ", ".join(f"{each.code} {each.name}" for each in trial.diagnoses)
    if trial.status != 0:
        last = trial.last_words.strip().splitlines()
        return f"it ended with status {trial.status}" + (f" ({last[-1][:120]})" if last else "")
    return "clean"
