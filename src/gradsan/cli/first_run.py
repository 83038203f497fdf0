"""The program run as it is, before a fix is tried; and whether anything can be proved by running it."""

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from textwrap import indent

from gradsan.cli.progress import Progress
from gradsan.cli.wishes import Wishes
from gradsan.fix.trials.commands import UnusableCommandError
from gradsan.fix.trials.sandbox.copies import listed
from gradsan.fix.trials.workshop import Trial, Workshop
from gradsan.report import Diagnosis

_NO_LAYERS = (
    "this system does not let a trial have a file system of its own: the program runs in a copy of this directory, and"
    " what it writes elsewhere (by absolute paths, or by `..`) is written"
)
_SHOWN = 1500  # characters of what a program printed last


def workshop_for(
    root: Path, command: str, wishes: Wishes, wants: Callable[[str], bool], progress: Progress
) -> Workshop:
    """Where trials are made."""
    workshop = Workshop(
        root, command, seconds=wishes.timeout, max_steps=wishes.max_steps, wants=wants, tick=progress.tick
    )
    if not workshop.layers:
        _warn_of_copy(root)
    return workshop


def _warn_of_copy(root: Path) -> None:
    """Of what could do harm; also those who want to hear nothing else read it."""
    warnings = Progress(sys.stderr)
    warnings.say(_NO_LAYERS)
    left_out = listed(root).left_out
    if left_out:
        warnings.say(f"too large to be copied whole: {len(left_out)} files are missing there, as {left_out[-1]}")


def first_run(
    workshop: Workshop, command: str, seconds: float, known: Sequence[Diagnosis], progress: Progress
) -> Trial:
    """How the program runs as it is; refused where that can prove nothing."""
    progress.say("running the program as it is")
    began = time.monotonic()
    before = workshop.run({})
    progress.expect(time.monotonic() - began)
    printed = indent(before.last_words.strip()[-_SHOWN:] or "(nothing)", "    ")
    if before.status is None:
        raise UnusableCommandError(
            f"the program did not end within {seconds:g} seconds",
            f"let it do less, or end it with --max-steps, or give it longer with --timeout. It printed:\n{printed}",
        )
    _demand_a_run(before, command, known, printed)
    if before.status != 0 and not _errors(before.diagnoses):
        progress.say(f"the program ends with status {before.status}, which a fix must end too. It printed:\n{printed}")
    if before.outside:
        progress.say("it wrote outside of this directory: " + ", ".join(before.outside))
    return before


def _demand_a_run(before: Trial, command: str, known: Sequence[Diagnosis], printed: str) -> None:
    """Say what is wrong with a first run that can prove nothing."""
    if before.status != 0 and not _is_explained(before, known):
        others = ", ".join(f"{each.code} {each.name}" for each in _errors(before.unwanted))
        why = f"it fails with {others}, which is not selected" if others else "gradsan cannot explain why"
        raise UnusableCommandError(
            f"the program does not run as it is: {command!r} ended with status {before.status}, and {why}",
            f"nothing can be proved until it runs. It printed:\n{printed}",
        )
    if not before.watched:
        raise UnusableCommandError(
            f"no Python program was seen in {command!r} (status {before.status})",
            f"it must start the Python that gradsan is installed for. It printed:\n{printed}",
        )


def _is_explained(before: Trial, known: Sequence[Diagnosis]) -> bool:
    """Whether a selected problem may be what the program fails of."""
    if _errors(before.diagnoses):
        return True
    shows_some = bool(before.diagnoses or (known and before.passes))
    return shows_some and not _errors(before.unwanted)


def _errors(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    return [each for each in diagnoses if each.severity == "error"]
