"""Calls that were running when gradsan was installed lie around every stack of an explanation, or around none."""

from pathlib import Path

import pytest

from gradsan.facts.incident import Edited, GraphPath, OpFact, PassFact
from gradsan.facts.location import Frame
from gradsan.observe.surroundings import surrounded
from observe.failing_programs import diagnosis_of

SCRIPT, TRAIN, STEP = (Frame("main.py", 9, "<module>"), Frame("main.py", 5, "train"), Frame("main.py", 6, "train"))
HELPER = Frame("main.py", 2, "helper")


def edited(saver: OpFact, changed: tuple[Frame, ...]) -> Edited:
    """An edit in a function that a script calls."""
    failing = PassFact("backward", retains=False, stack=(SCRIPT, STEP), step=1, begin=9)
    return Edited(failing, saver, False, None, changed, "now", GraphPath((saver,)), saver, None)  # noqa: FBT003 # in order


def test_stack_that_begins_further_in_gets_the_calls_around_it() -> None:
    """The script itself is not recorded; the pass knows it."""
    found = surrounded(edited(OpFact("Mul", 3, stack=(TRAIN,)), (TRAIN, HELPER)))

    assert isinstance(found, Edited)
    assert found.saver is not None
    assert found.saver.stack == (SCRIPT, TRAIN)
    assert found.path.ops[0].stack == (SCRIPT, TRAIN)
    assert found.changed == (SCRIPT, TRAIN, HELPER)
    assert found.failing.stack == (SCRIPT, STEP)


def test_stack_that_is_whole_or_of_something_else_stays_as_it_is() -> None:
    """Nobody knows what called a function that is over."""
    whole = edited(OpFact("Mul", 3, stack=(SCRIPT, TRAIN)), (HELPER,))

    assert surrounded(whole) == whole


def test_edit_is_offered_where_the_program_was_running_already(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This test runs around the program, and nothing of it is recorded on 3.11."""
    program = """
def train():
    maker, judge = (nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3)) for _ in range(2))
    of_maker, of_judge = (torch.optim.SGD(each.parameters(), 0.1) for each in (maker, judge))
    for _ in range(2):
        fake = maker(torch.ones(2, 3))
        of_judge.zero_grad()
        judged = judge(fake)
        judged.mean().backward()
        of_judge.step()
        of_maker.zero_grad()
        judge(fake).square().mean().backward()
        of_maker.step()

train()
"""
    monkeypatch.chdir(tmp_path)

    diagnosis = diagnosis_of(tmp_path, program)

    assert diagnosis.code == "GS106"
    assert [edit.new.strip() for edit in diagnosis.fixes[0].edits] == ["judged = judge(fake.detach())"]
