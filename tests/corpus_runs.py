"""Every program of the corpus under `gradsan run`, once for all tests, whichever worker asks first."""

import fcntl
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended under gradsan."""

    status: int
    stderr: str
    report: dict[str, Any]

    @property
    def diagnosis(self) -> dict[str, Any]:
        """The one there is."""
        (only,) = self.report["diagnoses"]
        return dict(only)


class CorpusRuns:
    """What is known of the programs so far, in a folder that all workers of a test run share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, entry: str) -> Ended:
        """How the program ended; it is run where nobody has run it yet."""
        script = CORPUS / entry
        name = f"{script.parent.name}-{script.stem}"
        known, report = self._folder / f"{name}.ended", self._folder / f"{name}.json"
        with (self._folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not known.exists():
                command = [sys.executable, "-B", "-m", "gradsan", "run", "--format", "json", "-o", str(report)]
                done = subprocess.run(
                    [*command, script.name], cwd=script.parent, capture_output=True, text=True, check=False
                )
                known.write_text(json.dumps([done.returncode, done.stderr]), encoding="utf-8")
        status, stderr = json.loads(known.read_text(encoding="utf-8"))
        return Ended(status, stderr, json.loads(report.read_text(encoding="utf-8")))


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder of the test run, and not of one of its workers."""
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    folder.mkdir(exist_ok=True)
    return folder
