"""One explanation, followed through the rooms: each stage is entered once, in the order of the picture."""

import sys
from itertools import groupby
from pathlib import Path
from types import FrameType

import pytest

from gradsan.explanation.explainer import Explainer
from gradsan.observe.raised import Raised
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
STAGES = ("observe.", "check.", "causes.", "fix.", "show.")
GUARDS = "observe.guarding"  # whatever a stage does, it is called through these


def module_of(frame: FrameType | None) -> str:
    """The module of gradsan that a frame runs, without the name of the package; nothing, for others."""
    name = "" if frame is None else str(frame.f_globals.get("__name__", ""))
    return name.removeprefix("gradsan.") if name.startswith("gradsan.") else ""


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stages that the pipeline calls while it explains, one after the other."""
    found: list[str] = []
    explain = Explainer.explain

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and module_of(frame.f_back).startswith("explanation."):
            called = module_of(frame)
            if called != GUARDS and called.startswith(STAGES):
                found.append(called.partition(".")[0])

    def followed(self: Explainer, raised: Raised) -> None:
        sys.setprofile(note)
        try:
            explain(self, raised)
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(Explainer, "explain", followed)
    return found


def test_each_stage_is_entered_once_and_in_order(entered: list[str], tmp_path: Path) -> None:
    """What a stage hands on is complete: nobody has to go back to it."""
    assert diagnosis_of(tmp_path, PROGRAM).code == "GS103"

    assert [stage for stage, _ in groupby(entered)] == ["observe", "causes", "fix", "show"]
