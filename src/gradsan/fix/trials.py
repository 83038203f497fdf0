"""Runs a program with some of its files changed, in a process and a directory of its own, under the sanitizer."""

import json
import math
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsan.errors import GradsanError
from gradsan.fix.scratch import lay_out
from gradsan.report import Diagnosis

_CLOSE = 1e-4  # relative; sums are added up in another order


class UnusableCommandError(GradsanError):
    """A command that cannot be run under the sanitizer."""


@dataclass(frozen=True, slots=True)
class Command:
    """`python [options] script.py args…`, taken apart."""

    options: tuple[str, ...]  # Python's own
    program: tuple[str, ...]  # a script and its arguments, or `-m`, a module and its arguments

    @property
    def script(self) -> str | None:
        """The file that is run, if it is one."""
        return None if self.program[0] == "-m" else self.program[0]


@dataclass(frozen=True, slots=True)
class Trial:
    """How a run ended."""

    status: int | None  # None: it took too long
    diagnoses: tuple[Diagnosis, ...]
    steps: tuple[Mapping[str, Any], ...]  # what each optimizer was given, step after step
    last_words: str  # the end of what it said

    @property
    def is_clean(self) -> bool:
        """Whether it ran to its end, or as far as it was let, and nothing was found."""
        return self.status == 0 and not self.diagnoses


def command_of(words: str | Sequence[str], root: Path | None = None) -> Command:
    """A command line as a user writes it; refused where it is no Python program, or lies outside `root`."""
    parts = shlex.split(words) if isinstance(words, str) else list(words)
    if parts and Path(parts[0]).name.startswith("python"):
        parts.pop(0)
    elif not parts or not parts[0].endswith(".py"):
        raise UnusableCommandError(f"{words!r} does not begin with `python`", 'write --verify "python train.py …"')
    options = []
    while parts and parts[0].startswith("-") and parts[0] != "-m":
        if parts[0] == "-c":
            raise UnusableCommandError("`python -c` has no file to mend", "put the program into a file")
        options.append(parts.pop(0))
        if options[-1] in {"-X", "-W"} and parts:
            options.append(parts.pop(0))
    if not parts or parts == ["-m"]:
        raise UnusableCommandError(f"{words!r} names no program", 'write --verify "python train.py …"')
    if root is not None and parts[0] != "-m":
        script = (root / parts[0]).resolve()
        if not script.is_relative_to(root.resolve()):
            raise UnusableCommandError(f"{parts[0]!r} lies outside the working directory", "change into its folder")
        parts[0] = str(script.relative_to(root.resolve()))
    return Command(tuple(options), tuple(parts))


class Workshop:
    """Where trials are made: the user's working directory, which stays as it is."""

    def __init__(self, root: Path, command: Command, *, seconds: float, passes: int | None) -> None:
        self.root = root
        self._command = command
        self._seconds = seconds
        self._passes = passes

    def run(self, changed: Mapping[str, bytes], *, retain: bool = False) -> Trial:
        """The program with these files changed."""
        with tempfile.TemporaryDirectory(prefix="gradsan-", ignore_cleanup_errors=True) as folder:
            scratch, notes = Path(folder) / "work", Path(folder) / "notes"
            scratch.mkdir()
            notes.mkdir()
            lay_out(scratch, self.root, changed, self._command.script)
            status, said = self._start(scratch, notes, retain=retain)
            found = _diagnoses(notes / "report.json", (scratch.resolve(), self.root.resolve()))
            return Trial(status, found, _steps(notes / "record.json"), said[-2000:])

    def _start(self, scratch: Path, notes: Path, *, retain: bool) -> tuple[int | None, str]:
        mode = "retain" if retain else "plain"
        line = [sys.executable, *self._command.options, "-m", "gradsan.cli.trial", str(notes / "record.json")]
        line += [str(self._passes or 0), mode, "run", "--format", "json", "-o", str(notes / "report.json")]
        process = subprocess.Popen(  # noqa: S603 # the user's own command
            [*line, *self._command.program],
            cwd=scratch,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # so that its own children end with it
        )
        try:
            said, _ = process.communicate(timeout=self._seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            return None, "it took too long"
        except BaseException:
            _end(process)
            raise
        return process.returncode, said


def same_gradients(trial: Trial, reference: Trial) -> bool | None:
    """Whether every optimizer was given the same; None where the reference itself does not run."""
    if reference.status != 0:
        return None
    if len(trial.steps) != len(reference.steps):
        return False
    return all(_alike(ours, theirs) for ours, theirs in zip(trial.steps, reference.steps, strict=True))


def cut_off(trial: Trial, before: Trial) -> list[str]:
    """Parameters that were given gradients before, and none in any step now."""
    had, have, asked = _trained(before), _trained(trial), {step["optimizer"] for step in trial.steps}
    return [f"parameter {n} of optimizer {o}" for o, n in sorted(had - have) if o in asked]


def _trained(trial: Trial) -> set[tuple[int, int]]:
    return {
        (step["optimizer"], number)
        for step in trial.steps
        for number, gradient in enumerate(step["gradients"])
        if gradient is not None
    }


def _alike(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    if ours["optimizer"] != theirs["optimizer"] or len(ours["gradients"]) != len(theirs["gradients"]):
        return False
    # Some gradients are zero but for rounding, as that of a bias before a normalisation: the largest is the measure.
    scale = max((abs(each) for one in theirs["gradients"] if one is not None for each in one), default=0.0)
    pairs = zip(ours["gradients"], theirs["gradients"], strict=True)
    return all(_close(one, other, scale) for one, other in pairs)


def _close(one: Sequence[float] | None, other: Sequence[float] | None, scale: float) -> bool:
    if one is None or other is None:
        return one is other
    return all(math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE * scale) for a, b in zip(one, other, strict=True))


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "NO_COLOR": "1"}


def _end(process: "subprocess.Popen[str]") -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()


def _diagnoses(report: Path, homes: Sequence[Path]) -> tuple[Diagnosis, ...]:
    """What a trial found, in the files of the working directory, whether it had them as copies or as links."""
    from gradsan.show.json import read

    if not report.exists():
        return ()
    text = report.read_text(encoding="utf-8")
    for home in homes:
        text = text.replace(json.dumps(f"{home}{os.sep}")[1:-1], "")
    report.write_text(text, encoding="utf-8")
    return read(report).diagnoses


def _steps(record: Path) -> tuple[Mapping[str, Any], ...]:
    if not record.exists():
        return ()
    return tuple(json.loads(record.read_text(encoding="utf-8"))["steps"])
