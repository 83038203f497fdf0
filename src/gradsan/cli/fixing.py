"""What `gradsan fix` does, from the wishes of its caller to the status of the process."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TextIO

import click

from gradsan.cli.by_runs import Proving
from gradsan.cli.by_source import Proposing
from gradsan.cli.codes import selection
from gradsan.cli.command_to_run import command_to_run
from gradsan.cli.first_run import first_run, workshop_for
from gradsan.cli.outcomes import Changed, Outcome, difference, verdict
from gradsan.cli.output import write
from gradsan.cli.progress import Progress, file_bar
from gradsan.cli.rechecking import Rechecker
from gradsan.cli.wishes import Wishes
from gradsan.entry.screen import screen_of
from gradsan.errors import GradsanError
from gradsan.explanation.own_report import report_of
from gradsan.facts.location import line_of
from gradsan.fix.judging.verdicts import Stage
from gradsan.fix.trials.proofs import keep, kept, name_of
from gradsan.fix.trials.snapshot import SOURCES, Snapshot
from gradsan.fix.trials.workshop import Trial
from gradsan.fix.writing.applying import unwritten
from gradsan.report import Diagnosis, Report
from gradsan.show.harmless import neutral
from gradsan.show.places import main_place
from gradsan.show.typography import patch_lines
from gradsan.source.disk import forget_what_was_read
from gradsan.source.writing import write as write_files


class UnansweredError(GradsanError):
    """A question of `--ask` that nobody answered."""


@dataclass(frozen=True, slots=True)
class _Proof:
    """What runs have proved, and when."""

    made: str
    outcomes: list[Outcome]


class Fixing:
    """One run of the command. `progress` is where it says how it goes on; None: nobody wants to know."""

    def __init__(self, wishes: Wishes, progress: TextIO | None) -> None:
        self._wishes = wishes
        self._stream = progress
        self._progress = Progress(progress)
        self._root = Path.cwd()
        forget_what_was_read()
        self._snapshot = Snapshot.of(self._root) if wishes.verify else Snapshot.of_nothing(self._root)
        self._wants = selection(wishes.select, wishes.ignore)

    def run(self) -> int:
        """Find, prove, show, write; the status says whether something is left."""
        report = self._report()
        if report is None:
            known = self._checked(self._wishes.paths or (() if self._wishes.verify else (Path(),)))
            rechecker = Rechecker(self._root, known)
        else:
            known = list(report.diagnoses)
            rechecker = Rechecker(self._root, (), known)
        wanted = [each for each in known if self._wants(each.code)]
        if self._wishes.verify:
            outcomes = self._verified(report, wanted, rechecker)
        else:
            outcomes = Proposing(self._root, rechecker, self._wishes.unsafe).propose(wanted)
        _, left = self._made(outcomes)
        return 1 if left else 0

    def fix(self, known: Sequence[Diagnosis]) -> bool:
        """Fix what a check has found, as far as the source proves it; whether anything was, or would be, changed."""
        proposing = Proposing(self._root, Rechecker(self._root, known), self._wishes.unsafe)
        changed, _ = self._made(proposing.propose([each for each in known if each.fixes]))
        return bool(changed)

    def _made(self, outcomes: list[Outcome]) -> tuple[Changed, int]:
        """Show them, write them, and say how many are left."""
        changed, left = self._agreed(outcomes)
        self._write(changed)
        if self._wishes.form == "json":
            self._print_json(outcomes)
        if self._wishes.form == "quiet":
            self._say_what_is_left(outcomes)
        self._progress.say(verdict(outcomes, left, written=self._wishes.write))
        return changed, left

    def _report(self) -> Report | None:
        paths = self._wishes.paths
        if len(paths) != 1 or paths[0].suffix != ".json":
            return None
        from gradsan.show.json import read

        return read(paths[0])

    def _checked(self, paths: Sequence[Path]) -> list[Diagnosis]:
        """What the source alone shows. Only what is likely at least: an edit needs a reason."""
        from gradsan.check.diagnoses import merged
        from gradsan.check.files import find
        from gradsan.check.running import check_files
        from gradsan.check.suppressions import silenced

        files = list(find(paths, left_out=self._left_out))
        with file_bar(self._stream, len(files)) as advance:
            outcome = check_files(files, None, jobs=1, progress=advance)
        for each in outcome.checked:
            if each.problem is not None:
                self._left_out(each.path, each.problem)
        found = merged(each for checked in outcome.checked for each in checked.diagnoses)
        return [each for each in silenced(found, outcome.comments).reported if each.confidence != "possible"]

    def _left_out(self, path: str, why: str) -> None:
        self._progress.say(neutral(f"{path} is left out: {why}"))

    def _verified(self, report: Report | None, known: Sequence[Diagnosis], rechecker: Rechecker) -> list[Outcome]:
        """What runs have proved: now, or when the same was asked of the same files."""
        wishes = self._wishes
        command = command_to_run(wishes.command, report, wishes.paths, self._root)
        asked = (wishes.unsafe, wishes.select, wishes.ignore, wishes.timeout, wishes.max_steps)
        name = name_of(self._snapshot, command, known, asked)
        proof = kept(name, _Proof) if self._snapshot.is_whole else None
        if proof is not None:
            self._progress.say(f"nothing has changed since {proof.made}: what was proved then is used")
            return proof.outcomes
        workshop = workshop_for(self._root, command, wishes, self._wants, self._progress)
        before = first_run(workshop, command, wishes.timeout, known, self._progress)
        if report is None and not wishes.paths:
            known = self._shown_by_source(before)
            rechecker = Rechecker(self._root, known)
        proving = Proving(workshop, Stage(before, {}, workshop), rechecker, self._progress, wishes.unsafe)
        outcomes = proving.prove_all(known, by_report=report is not None)
        self._keep(name, outcomes)
        return outcomes

    def _shown_by_source(self, ran: Trial) -> list[Diagnosis]:
        """What never raises and is certain in the files that the program ran, whether the run has shown it or not.

        An error that the source shows has not come, or is explained by the run; what the run counts, it has counted.
        """
        from gradsan.causes import cause

        files = [Path(each) for each in ran.files if ran.status == 0 and (self._root / each).exists()]
        found = (each for each in self._checked(files) if each.severity != "error" and each.confidence == "certain")
        return [each for each in found if self._wants(each.code) and not cause(each.code).counted_in_runs]

    def _keep(self, name: str, outcomes: list[Outcome]) -> None:
        """Keep what was proved, where sources alone are changed: whoever then asks to write need not wait again."""
        sources = [file for each in outcomes for file in each.changed or ()]
        if sources and all(file.endswith(SOURCES) for file in sources) and self._snapshot.is_current():
            keep(name, _Proof(datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"), outcomes))

    def _agreed(self, outcomes: Sequence[Outcome]) -> tuple[Changed, int]:
        """Show each fix, and ask where that is wished; what the files are to say, and how many problems stay."""
        changed: Changed = {}
        made = 0
        is_refused = False  # what follows was found with that one made
        for each in outcomes:
            after = changed if is_refused or each.changed is None else each.changed
            self._show(each, changed, after)
            if each.changed is None or is_refused:
                continue
            is_refused = each.fix is not None and self._is_refused()
            if not is_refused:
                changed, made = after, made + 1
        return changed, len(outcomes) - (made if self._wishes.write else 0)

    def _is_refused(self) -> bool:
        if not self._wishes.ask:
            return False
        try:
            return not click.confirm("write it?", default=False)
        except click.Abort as error:
            if not isinstance(error.__context__, EOFError):
                raise
            raise UnansweredError(
                "the input ended before this question was answered, so nothing was written",
                "answer `y` or `n`, or leave --ask out",
            ) from None

    def _show(self, outcome: Outcome, before: Changed, after: Changed) -> None:
        diff = difference(self._root, before, after)
        if self._wishes.form == "text":
            own = "" if outcome.fix is None else outcome.fix.diff
            screen = screen_of(sys.stdout, self._wishes.color)
            write(outcome.shown(diff or own, screen, is_made=bool(diff), verbose=self._wishes.verbose), None)
        elif self._wishes.form == "diff":
            write("".join(f"{line}\n" for line in patch_lines(diff)), None)

    def _write(self, changed: Changed) -> None:
        if changed and self._wishes.write:
            changes = unwritten(changed, self._root)
            self._snapshot.demand_unchanged(changed)
            write_files(changes)
            self._progress.say("written: " + ", ".join(sorted(changed)))

    def _say_what_is_left(self, outcomes: Sequence[Outcome]) -> None:
        """Why an edit is not made, where the outcomes themselves are not shown."""
        for each in outcomes:
            if each.changed is None:
                place = line_of(main_place(each.diagnosis))
                self._progress.say(f"{place}: {each.diagnosis.code} is left: {each.why}")

    @staticmethod
    def _print_json(outcomes: Sequence[Outcome]) -> None:
        from gradsan.show.json import write as as_json

        found = [each.diagnosis for each in outcomes]
        write(as_json(report_of(found)), None)
