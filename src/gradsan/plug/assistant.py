"""What an assistant may ask of gradsan in one project: run, check, explain, fix. Each answer is a report of schema 1.

It is done by the commands, in processes of their own. Paths lie in the project, links followed; what a finding shows of
files outside is left out. Without the permission to write, no file of the project is changed, by a program neither.
"""

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gradsan.check.files import find
from gradsan.errors import GradsanError
from gradsan.explanation.own_report import report_of
from gradsan.fix.trials.workshop import Workshop
from gradsan.show.json import write
from gradsan.source.bounded import inside

_MOST_PRINTED = 4_000  # characters of what a program prints, its last


class RefusedError(GradsanError):
    """What an assistant may not have."""


class FailedError(GradsanError):
    """A command that could not be carried out: it has said why, and what to do."""

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, slots=True)
class Answer:
    """A report, and what else there is to say."""

    report: dict[str, Any]  # as JSON has it
    said: str = ""


@dataclass(frozen=True, slots=True)
class Assistant:
    """What is allowed, and where."""

    root: Path
    may_write: bool

    def check(self, paths: Sequence[str]) -> Answer:
        """Find mistakes in files and folders, without running them."""
        named = self._inside(paths)
        out = [word for each in self._leading_out(named) for word in ("--exclude", escape(each))]
        return self._asked("check", "--format", "json", *out, "--", *named)

    def explain(self, subject: str) -> Answer:
        """The page of a code, or a report that lies in the project."""
        named = self._inside([subject])[0] if subject.endswith(".json") else subject
        return self._asked("explain", "--format", "json", "--", named)

    def fix(self, paths: Sequence[str], *, write: bool) -> Answer:
        """The fixes of what is found, as diffs; written, where that is asked for and allowed."""
        if write and not self.may_write:
            raise RefusedError(
                "this server may not write", "ask for the diff alone, or let the user start it with `--allow-write`"
            )
        return self._asked("fix", "--format", "json", *(["--write"] if write else []), "--", *self._inside(paths))

    def run(self, script: str, arguments: Sequence[str], seconds: float) -> Answer:
        """Run a program of the project: where it can change nothing, unless writing is allowed."""
        named = self._inside([script])[0]
        if not (self.root / named).is_file():
            raise RefusedError(f"there is no program {script!r} in the project", "name a file of it")
        return (self._run if self.may_write else self._tried)(f"./{named}", arguments, seconds)

    def _run(self, script: str, arguments: Sequence[str], seconds: float) -> Answer:
        with tempfile.TemporaryDirectory(prefix="gradsan-") as folder:
            report = Path(folder) / "report.json"
            words = ("run", "--quiet", "--format", "json", "--output", str(report), script, *arguments)
            done = self._started(*words, seconds=seconds)
            if not report.exists():
                raise FailedError(_last(done.stderr) or f"the program ended with status {done.returncode}", "")
            return Answer(self._confined(report.read_text(encoding="utf-8")), _ending(done.returncode, done.stdout))

    def _tried(self, script: str, arguments: Sequence[str], seconds: float) -> Answer:
        """In the sandbox that trials of fixes have: what the program writes is gone when it ends."""
        workshop = Workshop(self.root, shlex.join((sys.executable, script, *arguments)), seconds=seconds)
        if not workshop.layers:
            raise RefusedError(
                "this system has no sandbox in which a program can change nothing",
                "let the user start the server with `--allow-write`",
            )
        trial = workshop.run({})
        report = report_of(trial.diagnoses, argv=(script, *arguments), torch=_torch())
        return Answer(self._confined(write(report)), _ending(trial.status, trial.last_words))

    def _asked(self, *words: str) -> Answer:
        """What a command answers; its status says whether something was found, or that it could not be carried out."""
        done = self._started(*words)
        if done.returncode not in (0, 1):
            raise FailedError(done.stderr.strip().removeprefix("gradsan: "), "")
        return Answer(self._confined(done.stdout))

    def _started(self, *words: str, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gradsan", *words]
        try:
            return subprocess.run(  # noqa: S603 # our own command
                command,
                cwd=self.root,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise FailedError(f"the program did not end within {seconds:g} seconds; let it do less", "") from None

    def _inside(self, paths: Iterable[str]) -> list[str]:
        """Each as seen from the project; refused where it does not lie there."""
        return [self._one_inside(each) for each in paths] or ["."]

    def _one_inside(self, path: str) -> str:
        found = None if Path(path).is_absolute() or ".." in Path(path).parts else inside(self.root, path)
        if found is None:
            raise RefusedError(f"{path!r} lies outside the project", "name it as seen from the root of the project")
        return str(found.relative_to(self.root))

    def _leading_out(self, named: Sequence[str]) -> Iterator[str]:
        """The files among them that are links to somewhere else."""
        files = find([self.root / each for each in named])
        return (str(Path(each).relative_to(self.root)) for each in files if inside(self.root, each) is None)

    def _confined(self, text: str) -> dict[str, Any]:
        """Without findings that show lines of files outside."""
        answer: dict[str, Any] = json.loads(text)
        if "diagnoses" in answer:
            answer["diagnoses"] = [each for each in answer["diagnoses"] if all(map(self._is_own, _files(each)))]
        return answer

    def _is_own(self, file: str) -> bool:
        return not Path(file).is_absolute() and inside(self.root, file) is not None


def _files(part: object) -> Iterator[str]:
    """Every file that a part of a report names."""
    if isinstance(part, Mapping):
        if isinstance(part.get("file"), str):
            yield part["file"]
        for each in part.values():
            yield from _files(each)
    elif isinstance(part, list):
        for each in part:
            yield from _files(each)


def _ending(status: int | None, printed: str) -> str:
    how = "did not end in time" if status is None else f"ended with status {status}"
    last = printed.strip()[-_MOST_PRINTED:]
    return f"the program {how}" + (f"; it printed last:\n{last}" if last else "")


def _last(printed: str) -> str:
    return printed.strip()[-_MOST_PRINTED:]


def _torch() -> str | None:
    try:
        return version("torch")
    except PackageNotFoundError:
        return None
