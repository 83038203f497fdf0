"""The program by which fixes are proved."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from gradsan.errors import GradsanError
from gradsan.fix.trials.commands import command_of
from gradsan.report import Report
from gradsan.show.harmless import neutral
from gradsan.source.disk import NOTEBOOK


class NothingToRunError(GradsanError):
    """Fixes are to be proved, and nobody said by which program."""


def command_to_run(wished: str | None, report: Report | None, paths: Sequence[Path], root: Path) -> str:
    """What the caller names; else the notebook that is to be fixed, or what a report says was run, if they agree."""
    if wished is not None:
        return command_of(wished, root)
    if len(paths) == 1 and paths[0].suffix == NOTEBOOK:  # a file of Python may be no program by itself
        return command_of(["python", str(paths[0])], root)
    if report is None or report.torch is None or not report.argv:
        raise NothingToRunError("there is no program to run", 'name one: --verify "python train.py …"')
    line = shlex.join(["python", *report.argv])
    _demand_agreement(neutral(line))
    return command_of(line, root)


def _demand_agreement(shown: str) -> None:
    """A report is data: what it says was run is run when the user has seen it and agrees."""
    question = f"the report says that it comes from `{shown}`; run that?"
    try:
        agreed = click.confirm(question, default=False, err=True)
    except click.Abort:  # nobody is there to answer
        agreed = False
    if not agreed:
        raise NothingToRunError("the command of the report is not run", "name one: --verify COMMAND")
