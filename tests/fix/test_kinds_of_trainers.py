"""Fixes where a library runs the steps, and the program has only the forward."""

from dataclasses import replace
from pathlib import Path

import pytest

from fix.programs import Case, live
from gradsan.facts.held import TENSOR, Held, container
from gradsan.report import FixKind

HANDED_OVER = """\
def main():
    trainer.fit(Memory())

class Memory:
    def __init__(self):
        self.h = None

    def inner_1(self, x):
        out, self.h = self.cell(x, self.h)
        return out
"""


def _fixed(case: Case, kind: FixKind = "detach", held: Held = TENSOR) -> str | None:
    """`self.h` is carried from step to step, and one call of the user's asked for all of them."""
    enters, used = case.at("trainer.fit", "self.cell"), case.at("trainer.fit")
    found = case.diagnosis("GS103", "self.h", made=enters, enters=enters, used=used)
    return case.fixed(kind, found, replace(live(held), is_one_call=True))


@pytest.mark.parametrize(
    ("held", "cut"),
    [
        (TENSOR, "None if self.h is None else self.h.detach()"),
        (container("tuple", [TENSOR]), "None if self.h is None else tuple(each.detach() for each in self.h)"),
    ],
)
def test_state_of_a_librarys_loop_is_cut_where_it_is_read(tmp_path: Path, held: Held, cut: str) -> None:
    """It may be None there, in the first step."""
    case = Case(tmp_path, HANDED_OVER)

    assert _fixed(case, held=held) == HANDED_OVER.replace("(x, self.h)", f"(x, {cut})")
    assert _fixed(case, "reset-state", held) is None


def test_state_is_cut_where_it_gets_the_name_that_the_forward_uses(tmp_path: Path) -> None:
    """And not where it is only asked about."""
    source = HANDED_OVER.replace("self.cell(x, self.h)", "self.cell(x, h)").replace(
        "        out", "        h = self.h if self.h is not None and len(self.h) else zeros(x)\n        out"
    )
    case = Case(tmp_path, source)

    assert _fixed(case) == source.replace("h = self.h if", "h = self.h.detach() if")


def test_state_that_was_seen_to_be_there_is_cut_without_a_question(tmp_path: Path) -> None:
    """The function itself sees to it above."""
    source = HANDED_OVER.replace(
        "        out, self.h", "        if self.h is None:\n            self.h = zeros(x)\n        out, self.h"
    )
    case = Case(tmp_path, source)

    assert _fixed(case) == source.replace("(x, self.h)", "(x, self.h.detach())")
