"""What a step moves along its own gradient was adapted to something else in the step before."""

from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.judging.unsaid import unsaid

STEP = """\
def main():
    state = torch.zeros(4, requires_grad=True)
    for task in tasks:
        {slope}
        state = {moved}
        loss = query(net, state, task)
        loss.backward()
        meta.step()
"""
ADAPTED = {
    "a tensor": ("slope, = torch.autograd.grad(fit(net, state), state, create_graph=True)", "state - slope"),
    "a list": (
        "slopes = grad(fit(net, state), inputs=state, create_graph=True)",
        "[one - 0.1 * slope for one, slope in zip(state, slopes)]",
    ),
    "a dict": (
        "slopes = grad(fit(net, state), state.values(), create_graph=True)",
        "{key: one - slope for (key, one), slope in zip(state.items(), slopes)}",
    ),
}
NOT_ADAPTED = {
    "a chain of samples": ("slope, = torch.autograd.grad(energy(net, state), state)", "state - slope"),
    "the gradient of something else": ("slope, = grad(net(task), task, create_graph=True)", "cell(state, slope)"),
}


@pytest.mark.parametrize("name", [*ADAPTED, *NOT_ADAPTED])
def test_what_moves_along_its_own_gradient_is_adapted(tmp_path: Path, name: str) -> None:
    """Whether the next step is to begin where this one has ended, nothing says."""
    slope, moved = (ADAPTED | NOT_ADAPTED)[name]
    case = Case(tmp_path, STEP.format(slope=slope, moved=moved))
    place = case.at(f"state = {moved}")
    program = case.program(case.diagnosis("GS103", "state", made=place, enters=place, used=case.at("loss.backward")))

    assert ("adapted in each step alone" in str(unsaid(program, "cut"))) is (name in ADAPTED)
