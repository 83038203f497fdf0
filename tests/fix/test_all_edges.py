"""What a report tells of other edges into the old part, and of what was tried, is used as far as it can be read."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.attempts import attempts
from gradsan.fix.crossings import all_known, others
from gradsan.report import Diagnosis

SOURCE = "def main():\n    while True:\n        a = f(a)\n        b = g(a, b)\n        loss(b).backward()\n"


def crossing(line: int, name: str | None = "a", *, alike: bool = True) -> dict[str, object]:
    """The edge at a line of the program."""
    stack = [["train.py", line, "main"]]
    live = {"holds": "tensor"}
    return {"name": name, "holder": "local", "alike": alike, "made": stack, "enters": stack, "live": live}


def told(case: Case, *crossings: object) -> Diagnosis:
    """Of `b`, with others beside it."""
    pass_ = case.at("backward")
    places = {"made": case.at("g(a, b)"), "enters": case.at("g(a, b)"), "freed": pass_, "used": pass_}
    return case.diagnosis("GS103", "b", evidence={"crossings": json.dumps(crossings)}, **places)


def test_the_same_kind_of_fix_is_made_for_every_edge(tmp_path: Path) -> None:
    """One edit in two lines."""
    case = Case(tmp_path, SOURCE)

    mended = case.mended("detach", told(case, crossing(3)))

    assert mended == SOURCE.replace("f(a)", "f(a.detach())").replace("g(a, b)", "g(a, b.detach())")


@pytest.mark.parametrize("other", [crossing(3, None), crossing(3, alike=False), {"name": "a"}, 7])
def test_edge_that_cannot_be_treated_alike_is_left(tmp_path: Path, other: object) -> None:
    """It has no name, or is to be treated in another manner, or nobody here wrote that report."""
    case = Case(tmp_path, SOURCE)
    found = told(case, other)

    assert case.mended("detach", found) == SOURCE.replace("g(a, b)", "g(a, b.detach())")
    assert others(found) == ()
    assert not all_known(found)


@pytest.mark.parametrize("tried", ["[", "7", '[{"what": "dropped-detach"}]', '[{"what": 1, "line": "x"}]'])
def test_report_that_nobody_here_wrote_tells_of_nothing_tried(tmp_path: Path, tried: str) -> None:
    """Neither does it stop anything."""
    case = Case(tmp_path, SOURCE)

    assert attempts(replace(told(case), evidence={"tried": tried})) == ()
