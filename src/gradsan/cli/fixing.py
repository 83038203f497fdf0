"""What `gradsan fix` does, from the wishes of its caller to the status of the process."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from platform import python_version
from textwrap import indent
from typing import TextIO

import click

from gradsan.causes.choosing import is_sure
from gradsan.cli.codes import selection
from gradsan.cli.output import ColorChoice, wants_color, width, write
from gradsan.cli.progress import Progress
from gradsan.cli.rechecking import Rechecker
from gradsan.cli.version import version
from gradsan.errors import ChangedFileError, GradsanError
from gradsan.fix.applying import OutsideError, mended, unwritten
from gradsan.fix.commands import UnusableCommandError, command_of
from gradsan.fix.editing import OverlappingEditsError, unified_diff
from gradsan.fix.judging import Stage
from gradsan.fix.proofs import keep, kept, name_of
from gradsan.fix.proposing import with_edits
from gradsan.fix.proving import Proof, Prover, kind_of
from gradsan.fix.refusing import no_edit
from gradsan.fix.sandbox.copies import listed
from gradsan.fix.snapshot import Snapshot
from gradsan.fix.trials import Trial, Workshop
from gradsan.report import Diagnosis, Fix, Report
from gradsan.show.harmless import neutral
from gradsan.source.disk import parsed
from gradsan.source.writing import write as write_files

_GONE = "gone with it"
_CERTAIN = "certain: the source shows the problem, and with the edit none"
_NO_LAYERS = (
    "this system does not let a trial have a file system of its own: the program runs in a copy of this directory, and"
    " what it writes elsewhere (by absolute paths, or by `..`) is written"
)
_GUESS = "a guess, as --unsafe allows"
_SHOWN = 1500  # characters of what a program printed last
Changed = dict[str, bytes]


class NothingToRunError(GradsanError):
    """Fixes are to be proved, and nobody said by which program."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of the command."""

    paths: tuple[Path, ...]
    write: bool
    verify: bool
    command: str | None
    unsafe: bool
    ask: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    timeout: float
    max_steps: int | None
    form: str
    color: ColorChoice


@dataclass(frozen=True, slots=True)
class _Told:
    """What becomes of one diagnosis."""

    diagnosis: Diagnosis
    fix: Fix | None  # the one to be made; None: there is none
    changed: Changed | None  # what the files say with it, and with all before it; None: it is not to be made
    why: str  # how sure it is, or why it is not made


@dataclass(frozen=True, slots=True)
class _Proof:
    """What runs have proved, and when."""

    made: str
    told: list[_Told]


class Fixing:
    """One run of the command. `told` hears how it goes on; None: nobody wants to know."""

    def __init__(self, wishes: Wishes, told: TextIO | None) -> None:
        self._wishes = wishes
        self._progress = Progress(told)
        self._root = Path.cwd()
        self._snapshot = Snapshot.of(self._root) if wishes.verify else Snapshot.of_nothing(self._root)
        self._wants: Callable[[str], bool] = selection(wishes.select, wishes.ignore)
        self._rechecker = Rechecker(self._root, ())
        self._command_agreed: str | None = None  # that of a report

    def run(self) -> int:
        """Find, prove, show, write; the status says whether something is left."""
        report = self._report()
        known = list(report.diagnoses) if report is not None else self._checked()
        self._rechecker = Rechecker(self._root, known if report is None else (), () if report is None else known)
        known = [each for each in known if self._wants(each.code)]
        told = self._verified(report, known) if self._wishes.verify else self._proposed(known)
        changed, left = self._agreed(told)
        if changed and self._wishes.write:
            changes = unwritten(changed, self._root)
            self._snapshot.demand_unchanged(changed)
            write_files(changes)
            self._say("written: " + ", ".join(sorted(changed)))
        if self._wishes.form == "json":
            from gradsan.show.json import write as as_json

            found = tuple(each.diagnosis for each in told)
            write(
                as_json(Report(gradsan=version(), python=python_version(), torch=None, argv=(), diagnoses=found)), None
            )
        self._say(_verdict(told, left, written=self._wishes.write))
        return 1 if left else 0

    def _verified(self, report: Report | None, known: Sequence[Diagnosis]) -> list[_Told]:
        """What runs have proved: now, or when the same was asked of the same files."""
        wishes = self._wishes
        asked = (wishes.unsafe, wishes.select, wishes.ignore, wishes.timeout, wishes.max_steps)
        name = name_of(self._snapshot, self._command(report), known, asked)
        proof = kept(name, _Proof) if self._snapshot.is_whole else None
        if proof is not None:
            self._say(f"nothing has changed since {proof.made}: what was proved then is used")
            return proof.told
        told = self._proved(report, known)
        sources = [file for one in told for file in one.changed or ()]
        if sources and all(file.endswith(".py") for file in sources) and self._snapshot.is_current():
            keep(name, _Proof(datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"), told))
        return told

    def _report(self) -> Report | None:
        paths = self._wishes.paths
        if len(paths) != 1 or paths[0].suffix != ".json":
            return None
        from gradsan.show.json import read

        return read(paths[0])

    def _checked(self) -> list[Diagnosis]:
        """What the source alone shows. Only what is likely at least: an edit needs a reason."""
        from gradsan.check.diagnoses import merged
        from gradsan.check.files import find
        from gradsan.check.running import check_files
        from gradsan.check.suppressions import silenced

        paths = self._wishes.paths or (() if self._wishes.verify else (Path(),))
        outcome = check_files(list(find(paths, left_out=self._left_out)), None, jobs=1)
        found = merged(each for checked in outcome.checked for each in checked.diagnoses)
        return [each for each in silenced(found, outcome.comments).told if each.confidence != "possible"]

    def _left_out(self, path: str, why: str) -> None:
        self._say(neutral(f"{path} is left out: {why}"))

    def _proposed(self, known: Sequence[Diagnosis]) -> list[_Told]:
        """Without running anything: the first fix that the source proves."""
        told: list[_Told] = []
        for each in known:
            diagnosis = with_edits(each, self._root)
            offered = [one for one in diagnosis.fixes if one.edits]
            trusted = [one for one in offered if is_sure(diagnosis, one)]
            tried = [self._beside(told, diagnosis, one) for one in (*trusted, *offered[:1])]
            best = next((one for one in tried if one.changed is not None), None) or next(iter(tried), None)
            told.append(best or _Told(diagnosis, None, None, no_edit(diagnosis)))
        return told

    def _beside(self, told: Sequence[_Told], diagnosis: Diagnosis, fix: Fix) -> _Told:
        """What becomes of a fix together with those that are to be made already."""
        made = [one.fix for one in told if one.fix is not None and one.changed is not None]
        try:
            changed = mended([edit for each in (*made, fix) for edit in each.edits], self._root)
        except (OverlappingEditsError, ChangedFileError, OutsideError) as error:
            return _Told(diagnosis, fix, None, str(error))
        obstacle = self._rechecker.obstacle(diagnosis, changed)
        if obstacle is not None and obstacle.fatal:
            return _Told(diagnosis, fix, None, f"not made: {obstacle.why}")
        if obstacle is None and is_sure(diagnosis, fix):
            return _Told(diagnosis, fix, changed, _CERTAIN)
        if self._wishes.unsafe:
            return _Told(diagnosis, fix, changed, _GUESS)
        reason = "" if obstacle is None else f" ({obstacle.why})"
        return _Told(diagnosis, fix, None, f"not certain{reason}: prove it with --verify, or take it with --unsafe")

    def _proved(self, report: Report | None, known: Sequence[Diagnosis]) -> list[_Told]:
        """By running the program as it is, and then with each fix until one holds; what comes to light is next."""
        workshop, before = self._first_run(report, known)
        proving = _Proving(self, workshop, Stage(before, {}, workshop))
        proving.found()
        if not before.diagnoses and not known:
            seen = f"{before.passes} backward passes and {before.made} steps were watched"
            self._say(f"the program ran to its end: {seen}, and show none of the problems that `gradsan explain` lists")
        for diagnosis in known:
            if any(_is_same(diagnosis, one) for one in before.diagnoses):
                continue
            if report is not None:  # nothing would be proved by running a program that does not have it
                self._say(f"{diagnosis.code} {diagnosis.name}: the program was run again, and does not show it")
                continue
            left = self._rechecker.renewed(diagnosis, dict(proving.stage.changed))
            if left is None:
                proving.told.append(_Told(diagnosis, None, dict(proving.stage.changed), _GONE))
            else:
                proving.prove(left)
                proving.found()
        return proving.told

    def _first_run(self, report: Report | None, known: Sequence[Diagnosis]) -> tuple[Workshop, Trial]:
        """Where trials are made, and how the program runs as it is."""
        command = self._command(report)
        workshop = Workshop(
            self._root,
            command,
            seconds=self._wishes.timeout,
            max_steps=self._wishes.max_steps,
            wants=self._wants,
            tick=self._progress.tick,
        )
        if not workshop.layers:
            self._warn_of_copy()
        self._say("running the program as it is")
        before = workshop.run({})
        self._demand_a_run(before, command, known)
        if before.outside:
            self._say("it wrote outside of this directory: " + ", ".join(before.outside))
        return workshop, before

    def _warn_of_copy(self) -> None:
        self._warn(_NO_LAYERS)
        left_out = listed(self._root).left_out
        if left_out:
            self._warn(f"{len(left_out)} files are too much to copy, and missing there, as {left_out[-1]}")

    def _demand_a_run(self, before: Trial, command: str, known: Sequence[Diagnosis]) -> None:
        """Say what is wrong with a first run that can prove nothing."""
        said = indent(before.last_words.strip()[-_SHOWN:] or "(nothing)", "    ")
        if before.status is None:
            raise UnusableCommandError(
                f"the program did not end within {self._wishes.timeout:g} seconds",
                f"let it do less, or end it with --max-steps, or give it longer with --timeout. It printed:\n{said}",
            )
        errors = [each for each in before.diagnoses if each.severity == "error"]
        others = ", ".join(f"{each.code} {each.name}" for each in before.unwanted if each.severity == "error")
        is_explained = bool(before.diagnoses or (known and before.passes)) and not others
        if before.status != 0 and not errors and not is_explained:
            why = f"it fails with {others}, which is not selected" if others else "gradsan cannot explain why"
            raise UnusableCommandError(
                f"the program does not run as it is: {command!r} ended with status {before.status}, and {why}",
                f"nothing can be proved until it runs. It printed:\n{said}",
            )
        if not before.watched:
            raise UnusableCommandError(
                f"no Python program was seen in {command!r} (status {before.status})",
                f"it must start the Python that gradsan is installed for. It printed:\n{said}",
            )
        if before.status != 0 and not errors:
            self._say(f"the program ends with status {before.status}, which a fix must end too. It printed:\n{said}")

    def prove(self, diagnosis: Diagnosis, workshop: Workshop, stage: Stage) -> tuple[_Told, Stage]:
        """What becomes of it, and the program then."""
        self._say(f"{diagnosis.code} {diagnosis.name}: {diagnosis.message}")
        persists = self._rechecker.persists
        prover = Prover(workshop, stage, tell=lambda line: self._say(f"  {line}"), persists=persists)
        proof = prover.prove(diagnosis)
        words = "" if proof is None else _proof_in_words(proof)
        if proof is None and (proof := self._certain(diagnosis, prover)) is not None:
            words = f"{_CERTAIN}; the command does not come to it"
        elif proof is None and prover.otherwise and self._wishes.unsafe:
            proof = prover.otherwise[0]
            words = f"not verified, as --unsafe allows: the problem is gone, but {proof.verdict.why}"
        if proof is None:
            shown = prover.otherwise[0] if prover.otherwise else None
            fix = None if shown is None else self._with_diff(shown, stage)
            return _Told(prover.marked(diagnosis, fix), fix, None, _refusal(prover, diagnosis)), stage
        fix = self._with_diff(proof, stage)
        told = _Told(prover.marked(diagnosis, fix), fix, dict(proof.changed), words)
        return told, Stage(proof.ran, proof.changed, workshop)

    def _certain(self, diagnosis: Diagnosis, prover: Prover) -> Proof | None:
        """A fix of what the source alone shows, and the command does not come to: then the source has to prove it."""
        if diagnosis.origin != "check":
            return None
        undecided = (each for each in prover.otherwise if each.verdict.answer == "undecided")
        sure = (each for each in undecided if is_sure(diagnosis, each.fixes[0]))
        return next((each for each in sure if self._rechecker.obstacle(diagnosis, dict(each.changed)) is None), None)

    def _with_diff(self, proof: Proof, stage: Stage) -> Fix:
        return replace(proof.fixes[0], diff=self._diff(stage.changed, proof.changed))

    def _command(self, report: Report | None) -> str:
        if self._wishes.command is not None:
            return command_of(self._wishes.command, self._root)
        if report is not None and report.torch is not None and report.argv:
            return self._agreed_command(shlex.join(["python", *report.argv]))
        raise NothingToRunError("there is no program to run", 'name one: --verify "python train.py …"')

    def _agreed_command(self, line: str) -> str:
        """A report is data: what it says was run is run when the user has seen it and agrees."""
        if self._command_agreed is None:
            question = f"the report says that it comes from `{neutral(line)}`; run that?"
            try:
                agreed = click.confirm(question, default=False, err=True)
            except click.Abort:  # nobody is there to answer
                agreed = False
            if not agreed:
                raise NothingToRunError("the command of the report is not run", "name one: --verify COMMAND")
            self._command_agreed = command_of(line, self._root)
        return self._command_agreed

    def _agreed(self, told: Sequence[_Told]) -> tuple[Changed, int]:
        """Show each fix, and ask where that is wished; what the files are to say, and how many problems stay."""
        changed: Changed = {}
        refused = False
        left = 0
        color = wants_color(self._wishes.color, terminal=sys.stdout.isatty(), environment=os.environ)
        for one in told:
            after = changed if refused or one.changed is None else one.changed
            if self._wishes.form == "text":
                diff = self._diff(changed, after) or ("" if one.fix is None else one.fix.diff)
                write(_shown(one, diff, color=color), None)
            wanted = one.changed is not None and not refused  # what follows was found with this one made
            if wanted and one.fix is not None and self._wishes.ask and not click.confirm("write it?", default=False):
                wanted, refused = False, True
            changed = after if wanted else changed
            left += not (wanted and self._wishes.write)
        return changed, left

    def _diff(self, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
        text = ""
        for file, content in sorted(after.items()):
            path = self._root / file
            old, new = (parsed(str(path), each) for each in (before.get(file, path.read_bytes()), content))
            if old is not None and new is not None and old.content != new.content:
                text += unified_diff(file, old.lines, new.lines)
        return text

    def _say(self, line: str) -> None:
        self._progress.say(line)

    @staticmethod
    def _warn(line: str) -> None:
        """Of what could do harm; also those who want to hear nothing else are told."""
        Progress(sys.stderr).say(line)


@dataclass
class _Proving:
    """The program on its way: what is found in it is fixed one after the other, until nothing is left to try."""

    fixing: Fixing
    workshop: Workshop
    stage: Stage
    told: list[_Told] = field(default_factory=list)
    _tried: list[tuple[str, ...]] = field(default_factory=list)  # kinds of problems

    def found(self) -> None:
        """Deal with all that the program shows now."""
        first = [kind_of(each) for each in self.stage.ran.diagnoses]
        while (left := self._next()) is not None:
            count = len(self.told)
            self.prove(left)
            if kind_of(left) not in first:
                one = self.told[count]
                self.told[count] = replace(one, why=f"{one.why} (came to light behind another problem)")

    def prove(self, diagnosis: Diagnosis) -> None:
        """Deal with one problem."""
        self._tried.append(kind_of(diagnosis))
        one, self.stage = self.fixing.prove(diagnosis, self.workshop, self.stage)
        self.told.append(one)

    def _next(self) -> Diagnosis | None:
        return next((each for each in self.stage.ran.diagnoses if kind_of(each) not in self._tried), None)


def _refusal(prover: Prover, diagnosis: Diagnosis) -> str:
    """Why nothing is written, of the first fix that came closest."""
    if prover.otherwise:
        return f"not verified: the problem is gone, but {prover.otherwise[0].verdict.why}; --unsafe takes it"
    if prover.failed:
        return f"no fix ends it: {'; '.join(prover.failed[:3])}"
    return no_edit(diagnosis)


def _proof_in_words(proof: Proof) -> str:
    return f"verified: the program ran without this problem, and {proof.verdict.why}"


def _is_same(one: Diagnosis, other: Diagnosis) -> bool:
    """Whether source and run tell of one problem."""
    ours, theirs = one.used or one.made or one.held, other.used or other.made or other.held
    if ours is None or theirs is None:
        return one.code == other.code
    return (ours.file, ours.line) == (theirs.file, theirs.line)


def _shown(one: _Told, diff: str, *, color: bool) -> str:
    from gradsan.show.text import proposal

    diagnosis = one.diagnosis if one.fix is None else replace(one.diagnosis, fixes=(one.fix,))
    return proposal(diagnosis, diff, one.why, width=width(), color=color)


def _verdict(told: Sequence[_Told], left: int, *, written: bool) -> str:
    if not told:
        return "nothing to mend"
    done = len(told) - left
    guessed = sum(one.changed is not None and one.why == _GUESS for one in told)
    if written and guessed:
        return f"{done - guessed} mended, {guessed} changed without proof, {left} left"
    if written:
        return f"{done} mended, {left} left"
    ready = sum(one.changed is not None for one in told)
    return f"{len(told)} found, {ready} can be mended" + ("; --write does it" if ready else "")
