"""What `gradsan fix` does, from the wishes of its caller to the status of the process."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from platform import python_version
from typing import TextIO

import click

from gradsan.cli.codes import selection
from gradsan.cli.output import ColorChoice, wants_color, width, write
from gradsan.cli.rechecking import Rechecker
from gradsan.cli.version import version
from gradsan.errors import GradsanError
from gradsan.fix.applying import mended, unwritten
from gradsan.fix.applying import write as write_files
from gradsan.fix.commands import UnusableCommandError, command_of
from gradsan.fix.editing import ChangedFileError, OverlappingEditsError, unified_diff
from gradsan.fix.proposing import with_edits
from gradsan.fix.proving import Prover, kind_of
from gradsan.fix.source import parse
from gradsan.fix.trials import Trial, Workshop
from gradsan.fix.trusting import is_sure
from gradsan.report import Diagnosis, Fix, Report

_NO_EDIT = "no edit can be made with reason: see its fixes"
_GUESS = "a guess, as --unsafe allows"
_PASSES_OF_A_REPORT = 200  # enough to get past the place where it failed
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
    passes: int | None
    form: str
    color: ColorChoice


@dataclass(frozen=True, slots=True)
class _Told:
    """What becomes of one diagnosis."""

    diagnosis: Diagnosis
    fix: Fix | None  # the one to be made; None: there is none
    changed: Changed | None  # what the files say with it, and with all before it; None: it is not to be made
    why: str  # how sure it is, or why it is not made


class Fixing:
    """One run of the command. `told` hears how it goes on; None: nobody wants to know."""

    def __init__(self, wishes: Wishes, told: TextIO | None) -> None:
        self._wishes = wishes
        self._told = told
        self._root = Path.cwd()
        self._wants: Callable[[str], bool] = selection(wishes.select, wishes.ignore)
        self._rechecker = Rechecker(self._root, ())

    def run(self) -> int:
        """Find, prove, show, write; the status says whether something is left."""
        report = self._report()
        known = list(report.diagnoses) if report is not None else self._checked()
        self._rechecker = Rechecker(self._root, known if report is None else (), () if report is None else known)
        known = [each for each in known if self._wants(each.code)]
        told = self._proved(report, known) if self._wishes.verify else self._proposed(known)
        changed, left = self._agreed(told)
        if changed and self._wishes.write:
            write_files(unwritten(changed, self._root))
            self._say("written: " + ", ".join(sorted(changed)))
        if self._wishes.form == "json":
            from gradsan.show.json import write as as_json

            found = tuple(each.diagnosis for each in told)
            write(
                as_json(Report(gradsan=version(), python=python_version(), torch=None, argv=(), diagnoses=found)), None
            )
        self._say(_verdict(told, left, written=self._wishes.write))
        return 1 if left else 0

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
        outcome = check_files(list(find(paths)), None, jobs=1)
        found = merged(each for checked in outcome.checked for each in checked.diagnoses)
        return [each for each in silenced(found, outcome.comments).told if each.confidence != "possible"]

    def _proposed(self, known: Sequence[Diagnosis]) -> list[_Told]:
        """Without running anything: the first fix that the source proves."""
        told: list[_Told] = []
        for each in known:
            diagnosis = with_edits(each, self._root)
            offered = [one for one in diagnosis.fixes if one.edits]
            trusted = [one for one in offered if is_sure(diagnosis, one)]
            tried = [self._beside(told, diagnosis, one) for one in (*trusted, *offered[:1])]
            best = next((one for one in tried if one.changed is not None), None) or next(iter(tried), None)
            told.append(best or _Told(diagnosis, None, None, _NO_EDIT))
        return told

    def _beside(self, told: Sequence[_Told], diagnosis: Diagnosis, fix: Fix) -> _Told:
        """What becomes of a fix together with those that are to be made already."""
        made = [one.fix for one in told if one.fix is not None and one.changed is not None]
        try:
            changed = mended([edit for each in (*made, fix) for edit in each.edits], self._root)
        except (OverlappingEditsError, ChangedFileError) as error:
            return _Told(diagnosis, fix, None, str(error))
        obstacle = self._rechecker.obstacle(diagnosis, changed)
        if obstacle is not None and obstacle.fatal:
            return _Told(diagnosis, fix, None, f"not made: {obstacle.why}")
        if obstacle is None and is_sure(diagnosis, fix):
            return _Told(diagnosis, fix, changed, "certain: the source shows the problem, and with the edit none")
        if self._wishes.unsafe:
            return _Told(diagnosis, fix, changed, _GUESS)
        reason = "" if obstacle is None else f" ({obstacle.why})"
        return _Told(diagnosis, fix, None, f"not certain{reason}: prove it with --verify, or take it with --unsafe")

    def _proved(self, report: Report | None, known: Sequence[Diagnosis]) -> list[_Told]:
        """By running the program as it is, and then with each remedy until one holds."""
        passes = self._wishes.passes or (_PASSES_OF_A_REPORT if self._wishes.command is None else None)
        command = self._command(report)
        workshop = Workshop(self._root, command, seconds=self._wishes.timeout, passes=passes, wants=self._wants)
        self._say("running the program as it is")
        before = workshop.run({})
        self._demand_a_run(before, command)
        told: list[_Told] = []
        changed: Changed = {}
        now = before  # how the program runs with all fixes so far
        for diagnosis in before.diagnoses:
            alike = [each for each in now.diagnoses if kind_of(each) == kind_of(diagnosis)]
            left = diagnosis if diagnosis in alike else next(iter(alike), None)
            one, now = self._proved_one(left, diagnosis, workshop, (before, now), changed)
            told.append(one)
            changed = one.changed or changed
        for diagnosis in known:
            if any(_is_same(diagnosis, one) for one in before.diagnoses):
                continue
            if report is not None:  # nothing would be proved by running a program that does not have it
                self._say(f"{diagnosis.code} {diagnosis.name}: the program was run again, and does not show it")
                continue
            left = self._rechecker.renewed(diagnosis, changed)
            one, now = self._proved_one(left, diagnosis, workshop, (before, now), changed)
            told.append(one)
            changed = one.changed or changed
        return told

    def _proved_one(
        self,
        left: Diagnosis | None,
        diagnosis: Diagnosis,
        workshop: Workshop,
        ran: tuple[Trial, Trial],
        changed: Changed,
    ) -> tuple[_Told, Trial]:
        """What becomes of a diagnosis, which is `left` now: other fixes may have moved it, or mended it too."""
        if left is None:
            return _Told(diagnosis, None, changed, "gone with it"), ran[1]
        return self._prove(left, workshop, ran, changed)

    def _demand_a_run(self, before: Trial, command: str) -> None:
        """Say what is wrong with a first run that can prove nothing."""
        if before.status is None:
            raise UnusableCommandError(
                f"the program did not end within {self._wishes.timeout:g} seconds",
                "let it do less, or end it after so many passes with --passes, or give it longer with --timeout",
            )
        if not before.watched:
            raise UnusableCommandError(
                f"no Python program was seen in {command!r} (status {before.status})",
                "it must start the Python that gradsan is installed for; it said: " + before.last_words[-300:].strip(),
            )
        if before.status != 0 and not before.diagnoses:
            self._say(f"the program fails for a reason that gradsan has nothing to say about:\n{before.last_words}")

    def _prove(
        self, diagnosis: Diagnosis, workshop: Workshop, ran: tuple[Trial, Trial], changed: Changed
    ) -> tuple[_Told, Trial]:
        """What becomes of it, and how the program runs then. `ran`: as it is, and with all fixes so far."""
        before, now = ran
        self._say(f"{diagnosis.code} {diagnosis.name}: {diagnosis.message}")
        prover = Prover(
            workshop,
            before,
            now,
            tell=lambda line: self._say(f"  {line}"),
            persists=self._rechecker.persists,
            unsafe=self._wishes.unsafe,
        )
        proof = prover.prove(diagnosis, changed)
        if proof is None:
            why = "no remedy holds" if prover.failed else _NO_EDIT
            return _Told(prover.marked(diagnosis, None), None, None, why), now
        why = "verified: the program ran, and nothing " + ("new " if proof.ran.diagnoses else "") + "was found"
        if proof.same_gradients:
            why += "; every optimizer is given the same gradients as with all graphs kept"
        if proof.cut_off:
            why += f"; {len(proof.cut_off)} parameters receive no gradient any more"
        fix = replace(proof.fixes[0], diff=self._diff(changed, proof.changed))
        return _Told(prover.marked(diagnosis, fix), fix, dict(proof.changed), why), proof.ran

    def _command(self, report: Report | None) -> str:
        if self._wishes.command is not None:
            return command_of(self._wishes.command, self._root)
        if report is not None and report.torch is not None and report.argv:
            return command_of(["python", *report.argv], self._root)
        raise NothingToRunError("there is no program to run", 'name one: --verify "python train.py …"')

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
            old, new = parse(path, before.get(file, path.read_bytes())), parse(path, content)
            if old is not None and new is not None and old.content != new.content:
                text += unified_diff(file, old.lines, new.lines)
        return text

    def _say(self, line: str) -> None:
        if self._told is not None:
            self._told.write(f"gradsan: {line}\n")
            self._told.flush()


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
