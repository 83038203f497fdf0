"""Which names carry no graph into the next iteration, as the source says: the program cuts or creates them itself."""

from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.reading.cut_already import carries_nothing

LOOP = """\
def main():
    a = first()
    for x in data:
        {above}
        b, a = step(a, b, x)
        loss(a, b).backward()
        {below}
"""
NOTHING = [
    ("b = None", "b = b.detach()"),
    ("log(x)", "b = b.detach().requires_grad_()"),
    ("log(x)", "b = {k: (v + x).detach() for k, v in b.items()}"),
    ("log(x)", "b = tuple(each.detach() for each in b)"),
    ("b = x.clone()", "opt.step()"),
    ("b = {}", "a = [b.mean().detach()]"),
]
SOMETHING = [
    ("log(x)", "opt.step()"),
    ("log(x)", "b = b.detach() + b"),
    ("log(x)", "b = {k: v + x for k, v in b.items()}"),
    ("b = x.clone()", "a = b"),  # handed on by another name
    ("b = b + x", "opt.step()"),
    ("if x: b = None", "opt.step()"),
    ("log(x)", "if x: b = b.detach()"),  # at times
]


@pytest.mark.parametrize(("above", "below"), [*NOTHING, *SOMETHING])
def test_name_carries_a_graph_over_unless_the_program_ends_it(above: str, below: str, tmp_path: Path) -> None:
    """By a cut below the pass, or by a new value before the first reading."""
    case = Case(tmp_path, LOOP.format(above=above, below=below))
    program = case.program(case.diagnosis("GS103", "b", used=case.at("backward")))

    assert carries_nothing(program, "b") == ((above, below) in NOTHING)
