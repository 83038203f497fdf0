"""Runs a small program that fails, in the process of the tests, and gives back its diagnosis."""

import linecache
import sys
from pathlib import Path

import pytest

from gradsan.entry import installing
from gradsan.entry.session import Session
from gradsan.facts.live_evidence import LiveEvidence
from gradsan.facts.location import Location
from gradsan.report import Diagnosis

HEAD = """\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
"""


def diagnosis_of(folder: Path, program: str, library: str = "") -> Diagnosis:
    """What gradsan says about the error that ends a program. `library`: a module `library` that is not the user's."""
    return explained(folder, program, library)[0]


def explained(folder: Path, program: str, library: str = "") -> tuple[Diagnosis, LiveEvidence]:
    """The same, with what the live program showed beside it."""
    script, installed = folder / "main.py", folder / "site-packages"
    installed.mkdir()
    (installed / "library.py").write_text(library, encoding="utf-8")
    script.write_text(HEAD + program, encoding="utf-8")
    linecache.checkcache()
    complaints: list[str] = []
    session = Session(report=complaints.append)
    installing.take_over(session)
    sys.path.insert(0, str(installed))
    try:
        code = session.sanitizer.marked_main(compile(script.read_bytes(), str(script), "exec", dont_inherit=True))
        with pytest.raises(RuntimeError) as caught:
            exec(code, {"__name__": "program", "__file__": str(script)})  # noqa: S102 # as `gradsan run` does
        found = session.explain_raised(caught.value)
    finally:
        installing.uninstall()
        sys.path.remove(str(installed))
        sys.modules.pop("library", None)
    assert not complaints, complaints
    assert found is not None
    return found, session.explainer.live[found.fingerprint]


def marked(program: str, mark: str) -> int | None:
    """The line that ends with a comment of that text; None: no line does."""
    lines = (HEAD + program).splitlines()
    return next((number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}")), None)


def line_of(location: Location | None) -> int | None:
    """Where something happened."""
    return None if location is None else location.line
