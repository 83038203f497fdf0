"""What the live program shows of other edges into the old part is used as far as they can be treated alike."""

from dataclasses import replace
from pathlib import Path

import pytest

from fix.programs import A_TENSOR, MAIN, Case
from gradsan.facts.culprit import Culprit
from gradsan.facts.incident import OpFact
from gradsan.facts.live_evidence import Crossed
from gradsan.facts.location import Frame
from gradsan.fix.reading.crossings import all_known, others
from gradsan.report import Diagnosis

SOURCE = "def main():\n    while True:\n        a = f(a)\n        b = g(a, b)\n        loss(b).backward()\n"
AT = OpFact("MulBackward0", 1, (Frame(MAIN, 3, "main"),))
OTHER = Crossed(AT, AT, Culprit("a", "local"), is_alike=True, alive=A_TENSOR.alive)


def diagnosed(case: Case) -> Diagnosis:
    """Of `b`, with others beside it."""
    pass_ = case.at("backward")
    places = {"made": case.at("g(a, b)"), "enters": case.at("g(a, b)"), "freed": pass_, "used": pass_}
    return case.diagnosis("GS103", "b", evidence={}, **places)


def test_the_same_kind_of_fix_is_made_for_every_edge(tmp_path: Path) -> None:
    """One edit in two lines."""
    case = Case(tmp_path, SOURCE)

    fixed = case.fixed("detach", diagnosed(case), replace(A_TENSOR, crossings=(OTHER,)))

    assert fixed == SOURCE.replace("f(a)", "f(a.detach())").replace("g(a, b)", "g(a, b.detach())")


@pytest.mark.parametrize(
    "other",
    [replace(OTHER, culprit=None), replace(OTHER, is_alike=False), replace(OTHER, made=replace(AT, stack=()))],
    ids=["no name", "created otherwise", "created nobody knows where"],
)
def test_edge_that_cannot_be_treated_alike_is_left(tmp_path: Path, other: Crossed) -> None:
    """And is known to be left."""
    case = Case(tmp_path, SOURCE)
    seen = replace(A_TENSOR, crossings=(other,))

    assert case.fixed("detach", diagnosed(case), seen) == SOURCE.replace("g(a, b)", "g(a, b.detach())")
    assert others(diagnosed(case), seen) == ()
    assert not all_known(seen)
