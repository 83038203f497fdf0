"""Runs programs, one at a time, in children of a process that has imported torch: what takes most of the time.

`documents/press.py` does this for many programs at once; here each is made by the test that wants to see it run.
"""

import atexit
import multiprocessing
import os
import runpy
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# What `torch.optim` brings along comes at the first optimizer, and takes as long as torch itself.
PRELOADED = ["torch", "torch._dynamo", "torch.utils.data", "gradsan.cli"]


@dataclass(frozen=True, slots=True)
class Ended:
    """What a program leaves behind."""

    status: int
    stdout: str
    stderr: str


class Warm:
    """The process that forks. What it runs are children of it, each with a state of its own."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(PRELOADED)

    def run(self, script: Path, *command: str) -> Ended:
        """`python script`, or with a command, `gradsan command script`."""
        with tempfile.TemporaryDirectory() as folder:
            said = Path(folder) / "stdout", Path(folder) / "stderr"
            child = self._context.Process(target=_run, args=(str(script), command, *map(str, said)))
            child.start()
            child.join()
            stdout, stderr = (each.read_text(encoding="utf-8") for each in said)
            return Ended(child.exitcode or 0, stdout, stderr)


def _run(script: str, command: tuple[str, ...], stdout: str, stderr: str) -> None:
    for number, name in ((1, stdout), (2, stderr)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(Path(script).parent)
    name = Path(script).name
    if not command:
        sys.argv = [name]
        sys.path.insert(0, os.getcwd())  # noqa: PTH109 # as Python does; `sys.path` has strings
        runpy.run_path(name, run_name="__main__")
        return
    from gradsan.cli import main

    sys.argv = ["gradsan", *command, name]
    try:
        main()
    finally:
        atexit._run_exitfuncs()  # noqa: SLF001 # what a run found is told at exit, and these children end without one
