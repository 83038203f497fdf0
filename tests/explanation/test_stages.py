"""One explanation, followed through the rooms: each stage is asked once, in the order of the picture."""

import importlib
from collections.abc import Callable
from functools import wraps
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from observe.failing_programs import HEAD, diagnosis_of

PROGRAM = (
    HEAD
    + """\
cell, state = nn.RNNCell(2, 2), torch.zeros(1, 2)
for x in torch.ones(3, 1, 2):
    state = cell(x, state)
    state.sum().backward()
"""
)
# What the pipeline asks of each stage, where it finds it.
ASKED = {
    "gradsan.observe.examining.examined_pass": "observe",
    "gradsan.explanation.pipeline.diagnose": "causes",
    "gradsan.fix.what_if.predict": "fix",
    "gradsan.fix.proposing.with_edits": "fix",
    "gradsan.show.text.explanation": "show",
}


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stages that are asked for their part of an explanation, one after the other."""
    found: list[str] = []

    def noted(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def asked(*args: object, **kwargs: object) -> object:
            found.append(stage)
            return function(*args, **kwargs)

        return asked

    for path, stage in ASKED.items():
        module, _, name = path.rpartition(".")
        home = importlib.import_module(module)
        monkeypatch.setattr(home, name, noted(stage, getattr(home, name)))
    return found


def test_each_stage_is_asked_once_and_in_order(entered: list[str], tmp_path: Path) -> None:
    """What a stage hands on is complete: nobody has to go back to it."""
    assert diagnosis_of(tmp_path, PROGRAM).code == "GS103"

    assert [stage for stage, _ in groupby(entered)] == ["observe", "causes", "fix", "show"]
