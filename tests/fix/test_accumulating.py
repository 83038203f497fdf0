"""Gradients that are cleared between the passes for one step: they are to add up, if the program says so."""

from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.judging.unsaid import unsaid
from gradsan.fix.reading.program import Program

IN_A_LOOP = """\
def main():
    for step, x in enumerate(data):
        opt.zero_grad()
        loss = {loss}
        {asked}.backward()
        {guard}
            opt.step()
"""
IN_METHODS = """\
class Learner:
    def micro(self, x):
        self.opt.zero_grad()
        loss = self.model(x).mean()
        (loss * self.share).backward()

    def update(self):
        clip(self.model)
        self.opt.step()
"""
BELOW_THE_LOOP = """\
def main():
    for x in data:
        opt.zero_grad()
        loss = {loss}
        loss.backward()
    opt.step()
"""
MEAN = "model(x).mean()"
ADDS_UP = {
    "the step waits for a count": IN_A_LOOP.format(loss=MEAN, asked="loss", guard="if step % 4 == 3:"),
    "each loss is divided": IN_A_LOOP.format(loss=f"{MEAN} / parts", asked="loss", guard="if ready(step):"),
    "each pass is of a share": IN_A_LOOP.format(loss=MEAN, asked="(loss / parts)", guard="if ready(step):"),
}
OPEN = {
    "the step may have lost its indentation": BELOW_THE_LOOP.format(loss=MEAN),
    "a mean over the batch is no share": BELOW_THE_LOOP.format(loss="model(x).sum() / len(x)"),
}


def found(folder: Path, source: str, name: str = "loss") -> tuple[Case, Program]:
    """What is found in a program whose steps use the last pass alone."""
    case = Case(folder, source)
    stepping = "self.opt.step" if "self.opt" in source else "opt.step"
    passing = ".backward()"
    diagnosis = case.diagnosis("GS307", name, used=case.at(passing), changed=case.at(stepping))
    return case, case.program(diagnosis)


def moved(folder: Path, source: str) -> str | None:
    """The program in which nothing is cleared between the passes."""
    case, program = found(folder, source)
    return case.fixed("zero-grad", program.diagnosis)


@pytest.mark.parametrize("name", [*ADDS_UP, *OPEN])
def test_clearing_goes_below_the_step(tmp_path: Path, name: str) -> None:
    """There it clears what the step has taken."""
    source = (ADDS_UP | OPEN)[name]
    clearing, stepping = "        opt.zero_grad()\n", source.splitlines(keepends=True)[-1]
    below = stepping.replace("opt.step", "opt.zero_grad")
    assert moved(tmp_path, source) == source.replace(clearing, "").replace(stepping, stepping + below)


def test_clearing_goes_into_the_method_that_steps(tmp_path: Path) -> None:
    """It is the same optimizer by the same name."""
    fixed = IN_METHODS.replace("        self.opt.zero_grad()\n", "") + "        self.opt.zero_grad()\n"
    assert moved(tmp_path, IN_METHODS) == fixed


def test_clearing_of_another_optimizer_stays(tmp_path: Path) -> None:
    """The step below is not its own."""
    source = ADDS_UP["each loss is divided"].replace("opt.zero_grad", "other.zero_grad")
    assert moved(tmp_path, source) is None


@pytest.mark.parametrize("name", [*ADDS_UP, "in methods", *OPEN])
def test_program_says_whether_gradients_are_to_add_up(tmp_path: Path, name: str) -> None:
    """Else the step may only stand outside of the loop in which it was to be."""
    _, program = found(tmp_path, (ADDS_UP | {"in methods": IN_METHODS} | OPEN)[name])
    assert ("a step of its own" in str(unsaid(program, "gathered"))) is (name in OPEN)
