"""Runs programs, one at a time, that need not wait for torch (`tests/forking`)."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# For `multiprocessing`, which has a fork server of its own, where a test wants values from a process.
PRELOADED = ["torch", "torch._dynamo", "torch.utils.data", "gradsan.cli"]


@dataclass(frozen=True, slots=True)
class Ended:
    """What a program leaves behind."""

    status: int
    stdout: str
    stderr: str


class Warm:
    """Programs in their own folders."""

    def run(self, script: Path, *command: str) -> Ended:
        """`python script`, or with a command, `gradsan command script`."""
        before = ["-m", "gradsan", *command] if command else []
        done = subprocess.run(
            [sys.executable, *before, script.name],
            cwd=script.parent,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)
