"""Programs that use other libraries, in an environment that has them (`make test-integrations`)."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_UNWANTED = {"GRADSAN", "PYTHONWARNINGS", "CI"}
_WANTED = {"OMP_NUM_THREADS": "1", "COLUMNS": "100", "HF_HUB_OFFLINE": "1", "RAY_TRAIN_V2_ENABLED": "1"}

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True, slots=True)
class Run:
    """Starts programs in a folder."""

    folder: Path

    def write(self, name: str, source: str) -> None:
        """A file of a program."""
        (self.folder / name).write_text(source, encoding="utf-8")

    def __call__(self, *words: str, environment: Mapping[str, str] | None = None, folder: str = ".") -> Done:
        """`python words`."""
        inherited = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.folder / folder,
            env=inherited | _WANTED | dict(environment or {}),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
