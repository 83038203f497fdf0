"""A project while it is edited: what the editor's server keeps of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gradsan.check.suppressions import silenced
from gradsan.plug.edited_project import OneFile

PROGRAM = """\
import torch

weight = torch.ones(2, requires_grad=True)
for _ in range(3):
    weight.sum().backward()
"""
READING = """\
import sys
from gradsan.plug.edited_project import EditedProject, OneFile

project = EditedProject(sys.argv[1])
project.read_all()
loaded = set(sys.modules)
OneFile(sys.argv[1], "train.py", {}).answer()
print(sorted(set(sys.modules) - loaded), len(project.found()))
"""


def test_all_that_reading_takes_is_loaded_after_the_first_run(tmp_path: Path) -> None:
    """The process that reads is a copy, and another one where somebody typed on: none is to load it again."""
    (tmp_path / "train.py").write_text(PROGRAM)

    done = subprocess.run(
        [sys.executable, "-c", READING, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "[] 0\n"


def test_comment_in_a_cell_holds_in_an_editor_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a notebook that is open, and was not saved."""
    monkeypatch.chdir(tmp_path)
    meant = PROGRAM.replace("backward()", "exp().backward(retain_graph=True)  # gradsan: ignore[GS302]")
    cells = [{"cell_type": "code", "source": each} for each in ("import torch", meant)]

    checked, comments = OneFile(str(tmp_path), "a.ipynb", {"a.ipynb": json.dumps({"cells": cells}).encode()}).answer()

    assert [each.code for each in checked.diagnoses] == ["GS302"]
    assert silenced(checked.diagnoses, {"a.ipynb": comments}).reported == ()
