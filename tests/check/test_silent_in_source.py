"""Rules of silent problems, which runs prove (`tests/observe/test_silent_programs.py`), on the same programs read."""

import pytest

from gradsan.check.reading import check_content
from observe.silent_programs import RULES, Program

UNDER = [pytest.param(each, id=each.title) for rule in RULES for each in rule.under]
BEYOND = [pytest.param(each, id=each.title) for rule in RULES for each in rule.beyond]

# What the source does not show, and why.
UNSEEN: dict[str, str] = {
    "a divergence in a function that returns the other loss": "that nobody reads a name",
    "a term beside the sum": "likewise",
    "a module that keeps it for nobody": "likewise",
    "all losses of a list but the last": "likewise",
    "an attribute that is printed": "who reads an attribute",
    "weights of tasks whose gradient is scaled where it lies": "what is in a gradient",
}
# What is reported though runs leave it alone: known, and not fixed.
FALSE: dict[str, str] = {
    "it is updated by hand": "a parameter of an optimizer that a block without a graph sets",
    "a correction under a block that the summing function has itself": "which of such terms are meant",
}


def _found(program: Program) -> list[str]:
    checked = check_content("program.py", program.text.encode())
    return [each.code for each in checked.diagnoses if each.confidence != "possible"]


@pytest.mark.parametrize("program", UNDER)
def test_program_under_a_rule_is_found_in_source(program: Program) -> None:
    """By the same code, and nothing else is; but for what the source does not show."""
    assert _found(program) == ([] if program.title in UNSEEN else [program.code])


@pytest.mark.parametrize("program", BEYOND)
def test_near_miss_is_left_alone_in_source(program: Program) -> None:
    """A false alarm is worse than a miss."""
    assert (_found(program) == []) == (program.title not in FALSE)
