"""Every page of `gradsan explain` shows programs; here they are run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradsan.causes import Cause, all_causes


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the program as a user would: a script of its own, in an empty folder."""
    script = folder / "example.py"
    script.write_text(program, encoding="utf-8")
    return subprocess.run(
        [sys.executable, script.name],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(folder)},
        check=False,
    )


@pytest.mark.parametrize("cause", all_causes(), ids=lambda each: each.code)
def test_example_shows_what_its_page_says(cause: type[Cause], tmp_path: Path) -> None:
    """An error cause raises the error it quotes; a silent one ends well and prints what the page shows."""
    done = run(cause.example.program, tmp_path)

    if cause.severity == "error":
        assert done.stderr.strip().splitlines()[-1].startswith(cause.example.shows)
    else:
        assert (done.returncode, done.stdout, done.stderr) == (0, cause.example.shows, "")


@pytest.mark.parametrize("cause", all_causes(), ids=lambda each: each.code)
def test_mended_example_runs(cause: type[Cause], tmp_path: Path) -> None:
    """What the page offers as the fix ends without an error and prints what the page shows."""
    done = run(cause.example.fixed, tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, cause.example.fixed_shows, "")
