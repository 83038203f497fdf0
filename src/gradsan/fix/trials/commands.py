"""The command that proves a fix, as a user writes it, made ready to be run elsewhere."""

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from gradsan.errors import GradsanError

_SETTINGS = r"\s*(?:[A-Za-z_]\w*=\S*\s+)*"  # `CUDA_VISIBLE_DEVICES= python …`
_PYTHON = re.compile(rf"(?P<before>{_SETTINGS})python[\d.]*(?=\s|$)(?P<after>.*)", re.DOTALL)
_SCRIPT = re.compile(rf"(?P<before>{_SETTINGS})(?P<after>\S+\.(?:py|ipynb)(?=\s|$).*)", re.DOTALL)
_NOTEBOOK = re.compile(r"(?P<options>(?:\s+-\S+)*)(?P<notebook>\s+\S+\.ipynb(?=\s|$).*)", re.DOTALL)
_RUNS_NOTEBOOKS = " -m gradsan.entry.running_notebook"


class UnusableCommandError(GradsanError):
    """A command that cannot prove a fix."""


def command_of(words: str | Sequence[str], root: Path) -> str:
    """A line for the shell. `python` means the Python that runs gradsan, and files of `root` are named from there."""
    line = words if isinstance(words, str) else shlex.join(words)
    line = line.replace(f"{root.resolve()}/", "").strip()
    python = shlex.quote(sys.executable)
    if (found := _PYTHON.match(line)) is not None:
        if not found["after"].strip():
            raise UnusableCommandError(f"{line!r} names no program", 'write --verify "python train.py …"')
        line = f"{found['before']}{python}{_runnable(found['after'])}"
    elif (found := _SCRIPT.match(line)) is not None:
        line = f"{found['before']}{python}{_runnable(' ' + found['after'])}"
    if not line:
        raise UnusableCommandError("the command is empty", 'write --verify "python train.py …"')
    for script in _scripts(line):
        if not (root / script).resolve().is_relative_to(root.resolve()):
            raise UnusableCommandError(f"{script!r} lies outside the working directory", "change into its folder")
    return line


def _runnable(words: str) -> str:
    """What stands behind `python`; a notebook, which that cannot read, is handed to what can."""
    found = _NOTEBOOK.fullmatch(words)
    return words if found is None else f"{found['options']}{_RUNS_NOTEBOOKS}{found['notebook']}"


def _scripts(line: str) -> list[str]:
    try:
        return [word for word in shlex.split(line) if word.endswith((".py", ".ipynb"))]
    except ValueError:  # a quote that is not closed: the shell has more to say about it
        return []
