"""The sanitizer, in the process of the tests."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

import gradsan
from gradsan.entry import installing
from gradsan.entry.session import Session

Reported = list[str]  # what gradsan has said about itself
Started = Callable[..., "subprocess.CompletedProcess[str]"]
Watched = Callable[[], AbstractContextManager[tuple[Session, Reported]]]


@contextmanager
def _watched() -> Iterator[tuple[Session, Reported]]:
    reported: Reported = []
    session = Session(report=reported.append)
    installing.take_over(session)
    try:
        yield session, reported
    finally:
        installing.uninstall()


@pytest.fixture
def watched() -> Watched:
    """Enter what it answers: all within is watched as after `gradsan.install()`; get the session and what it said."""
    return _watched


@pytest.fixture
def started(tmp_path: Path) -> Started:
    """`started(source, GRADSAN="1")`: a script in an interpreter that reads the start-up file, as installed ones do."""
    installed = tmp_path / "installed"
    installed.mkdir()
    source = Path(gradsan.__file__).parents[1]
    shutil.copy(source / "gradsan.pth", installed)
    # Twice, as `site` does it in a virtual environment.
    reads = "import site\n" + f"site.addsitedir({str(installed)!r})\n" * 2
    (tmp_path / "sitecustomize.py").write_text(reads, encoding="utf-8")

    def start(program: str, *flags: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        script = tmp_path / "program.py"
        script.write_text(program, encoding="utf-8")
        inherited = {name: value for name, value in os.environ.items() if name != "GRADSAN"}
        path = os.pathsep.join((str(tmp_path), str(source)))
        return subprocess.run(
            [sys.executable, *flags, str(script)],
            env=inherited | {"PYTHONPATH": path} | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return start
