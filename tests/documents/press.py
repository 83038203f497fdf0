"""Run many small programs, each in a process of its own, and import torch only once (`tests/forking`)."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SCRIPT = "example.py"


@dataclass(frozen=True, slots=True)
class Printed:
    """What a program left behind."""

    status: int  # 1 where an exception ended it
    out: str
    err: str


def run(programs: Mapping[str, str], command: Sequence[str] = ()) -> dict[str, Printed]:
    """Run every program as a script called `example.py`, by Python or by a command such as `gradsan run`."""
    words = ["-m", *command] if command else []
    with tempfile.TemporaryDirectory() as place:
        environment = os.environ | {
            "OMP_NUM_THREADS": "1",
            "TORCHINDUCTOR_CACHE_DIR": place,
            "COLUMNS": "100",
            "PYTHONWARNINGS": "ignore:Guards may run slower on Python 3.13.0",  # said by the compiler, there alone
        }
        return {name: _run(Path(place).resolve() / name, text, words, environment) for name, text in programs.items()}


def _run(folder: Path, program: str, words: Sequence[str], environment: Mapping[str, str]) -> Printed:
    folder.mkdir()
    (folder / SCRIPT).write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, *words, SCRIPT], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return Printed(done.returncode, done.stdout, done.stderr)
