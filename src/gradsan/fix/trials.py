"""Runs a command with some files of the program changed, in a directory of its own, under the sanitizer."""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from gradsan.fix.arrangement import Arrangement
from gradsan.fix.environment import environment
from gradsan.fix.gradients import Steps
from gradsan.fix.scratch import Layout
from gradsan.report import Diagnosis


@dataclass(frozen=True, slots=True)
class Trial:
    """How a run ended."""

    status: int | None  # None: it took too long
    diagnoses: tuple[Diagnosis, ...]
    steps: Steps
    last_words: str  # the end of what it said
    watched: int = 1  # processes that were seen
    names: Mapping[int, Sequence[str]] = field(default_factory=dict)  # of each optimizer's parameters
    stale: bool = False  # a reference run: passes walked what was computed from older parameters


class Workshop:
    """Where trials are made: the user's working directory, which stays as it is."""

    def __init__(
        self,
        root: Path,
        command: str,
        *,
        seconds: float,
        passes: int | None,
        wants: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self.root = root
        self._wants = wants
        self._layout = Layout(root)
        self._command = command
        self._seconds = seconds
        self._passes = passes

    def run(self, changed: Mapping[str, bytes], *, reference: str | None = None) -> Trial:
        """The program with these files changed; as a reference run, where that is asked."""
        with tempfile.TemporaryDirectory(prefix="gradsan-", ignore_cleanup_errors=True) as folder:
            told = Arrangement(
                Path(folder) / "notes", self.root.resolve(), Path(folder).resolve() / "work", self._passes, reference
            )
            told.scratch.mkdir()
            told.notes.mkdir()
            self._layout.lay_out(told.scratch, changed)
            status, said = self._start(told)
            reports, caught = (sorted(told.notes.glob(f"{name}-*.json")) for name in ("report", "caught"))
            found = _diagnoses(reports, told)
            if not found and status != 0:  # a test runner or a launcher lives on, and says that something failed
                found = _diagnoses(caught, told)
            wanted = tuple(each for each in found if self._wants(each.code))
            records = _records(told.notes)
            return Trial(
                status,
                wanted,
                _steps(records),
                said[-2000:],
                len(reports),
                _names(records),
                stale=any(each["stale"] for each in records),
            )

    def _start(self, told: Arrangement) -> tuple[int | None, str]:
        process = subprocess.Popen(  # noqa: S602 # the user's own command, as they would type it
            self._command,
            shell=True,
            cwd=told.scratch,
            env=environment(told),
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


def _end(process: "subprocess.Popen[str]") -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()


def _diagnoses(reports: Iterable[Path], told: Arrangement) -> tuple[Diagnosis, ...]:
    """What the processes of a trial found."""
    from gradsan.show.json import read

    found: dict[str, Diagnosis] = {}
    for report in reports:
        for each in read(report).diagnoses:
            known = found.setdefault(each.fingerprint, each)
            if known is not each:  # another rank ran into the same
                found[each.fingerprint] = replace(known, count=known.count + each.count)
    return tuple(at_home(each, (told.scratch, told.root)) for each in found.values())


def at_home(diagnosis: Diagnosis, homes: Iterable[Path]) -> Diagnosis:
    """With the files named from the working directory, be it that a copy was read, or a link."""
    text = msgspec.json.encode(diagnosis).decode()
    for home in homes:
        text = text.replace(json.dumps(f"{home}{os.sep}", ensure_ascii=False)[1:-1], "")
    return msgspec.json.decode(text, type=Diagnosis)


_OPTIMIZERS = 1000  # of one process


def _records(notes: Path) -> list[dict[str, Any]]:
    """What the processes noted, one after the other: in the order of their ranks, or in which they were started."""
    records: list[dict[str, Any]] = [
        json.loads(file.read_text(encoding="utf-8")) for file in notes.glob("steps-*.json")
    ]
    return sorted((each for each in records if each["steps"]), key=_place)


def _steps(records: Iterable[Mapping[str, Any]]) -> Steps:
    return [
        {**step, "optimizer": number * _OPTIMIZERS + step["optimizer"]}
        for number, record in enumerate(records)
        for step in record["steps"]
    ]


def _names(records: Iterable[Mapping[str, Any]]) -> dict[int, Sequence[str]]:
    return {
        number * _OPTIMIZERS + optimizer: names
        for number, record in enumerate(records)
        for optimizer, names in enumerate(record["names"])
    }


def _place(record: Mapping[str, Any]) -> tuple[int, float]:
    return record["rank"] or 0, record["began"]
