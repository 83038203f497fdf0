"""Averages that are carried on: those that the program calls constants, and those of which it does not say."""

from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.reading.averages import averaging

SOURCE = """\
import torch

def main():
    center = {begin}
    for x in data:
        z = net(x)
        {update}
        loss = distance(z, center)
        loss.backward()
        opt.step()
"""
BEGUN = "net(first).mean(0).detach()"
WEIGHTED = "center = 0.9 * center + 0.1 * z.mean(0)"


def case_of(folder: Path, update: str, begin: str = BEGUN) -> Case:
    """A program whose state is updated so."""
    return Case(folder, SOURCE.format(begin=begin, update=update))


def fixed(case: Case, update: str) -> str | None:
    """What it says once the average is a constant; None where that is not offered."""
    used = case.at("loss.backward")
    found = case.diagnosis("GS103", "center", made=case.at(update), enters=case.at(update), freed=used, used=used)
    return case.fixed("no-grad", found)


@pytest.mark.parametrize(
    "update", [WEIGHTED, "center = torch.lerp(z.mean(0), center, 0.9)", "center = center + (z.mean(0) - center) / 10"]
)
@pytest.mark.parametrize("begin", [BEGUN, "net(first).detach().clone()"])
def test_average_that_begins_without_a_graph_is_computed_without_one(tmp_path: Path, update: str, begin: str) -> None:
    """The program gives it such a value elsewhere."""
    case = case_of(tmp_path, update, begin)

    assert fixed(case, update) == SOURCE.format(begin=begin, update=f"with torch.no_grad():\n            {update}")


def test_average_of_which_nothing_is_said_stays(tmp_path: Path) -> None:
    """Zeros have no graph that could have been cut off."""
    assert fixed(case_of(tmp_path, WEIGHTED, "torch.zeros(4)"), WEIGHTED) is None


@pytest.mark.parametrize("update", ["center = cell(z, center)", "center = center + cell(z, center)", "center = z"])
def test_state_that_a_network_computes_is_no_average(tmp_path: Path, update: str) -> None:
    """It is what is trained."""
    case = case_of(tmp_path, update)
    used = case.at("loss.backward")
    found = case.diagnosis("GS103", "center", made=case.at(update), enters=case.at(update), freed=used, used=used)

    assert averaging(case.program(found)) is None
    assert fixed(case, update) is None


RECURRENT = """\
import torch

def main():
    center = torch.zeros(4)
    for x in data:
        for {each} in x:
            {update}
        loss = distance(net(x), center)
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("each", "update", "is_average"),
    [
        ("part", "center = center * keep + part", False),
        ("part", "center = center + (part - center) / 10", False),
        ("task", "center[task] = 0.9 * center[task] + 0.1 * means[task]", True),
    ],
)
def test_what_a_loop_of_the_step_computes_from_itself_is_a_recurrence(
    tmp_path: Path, each: str, update: str, *, is_average: bool
) -> None:
    """An average is computed once a step, also where each task has one of its own."""
    case = Case(tmp_path, RECURRENT.format(each=each, update=update))
    used = case.at("loss.backward")
    found = case.diagnosis("GS103", "center", made=case.at(update), enters=case.at(update), freed=used, used=used)

    assert (averaging(case.program(found)) is not None) is is_average
