"""What one loss took as a constant, and another trains through, is one value: computed again, it is two."""

from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.judging.unsaid import unsaid

STEP = """\
def main():
    for batch in batches:
        value = critic(batch)
        {first}
        first.backward()
        opt.step()
        second = -value.mean()
        second.backward()
        other.step()
"""
SHARED = {
    "a target": "first = F.mse_loss(guess(batch), value.detach())",
    "a target under another name": "goal = value.detach(); first = F.mse_loss(guess(batch), goal)",
    "handed to who makes the loss": "first = losses.of(guess(batch), target=value.detach())",
}
NOT_SHARED = {
    "trained by both": "first = F.mse_loss(value, batch)",
    "another target": "first = F.mse_loss(value, slow(batch).detach())",
}


@pytest.mark.parametrize("name", [*SHARED, *NOT_SHARED])
def test_value_that_was_a_target_already_is_not_computed_again(tmp_path: Path, name: str) -> None:
    """Whether both losses are to have the same values, nothing says."""
    case = Case(tmp_path, STEP.format(first=(SHARED | NOT_SHARED)[name]))
    diagnosis = case.diagnosis(
        "GS201",
        "value",
        made=case.at("value = critic"),
        changed=case.at("opt.step"),
        used=case.at("second.backward"),
    )
    program = case.program(diagnosis)

    assert ("the same values" in str(unsaid(program, "again"))) is (name in SHARED)
