"""The explanation on a terminal, at several widths; the golden files are what a reader sees."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_files import Golden
from gradsan.report import Diagnosis, Summary
from gradsan.show.text import terminal
from show.scenes import CARRIED, NEEDLESS, WRAPPED, report

SCENES = {"carried_state": CARRIED, "same_line_twice": WRAPPED, "needless_retain": NEEDLESS}


@pytest.mark.parametrize("width", [100, 72])
@pytest.mark.parametrize("scene", SCENES)
def test_golden_explanation(scene: str, width: int, golden: Golden) -> None:
    """Created, freed, entered, used, in that order, with what each place means."""
    text = terminal(report(SCENES[scene]), width=width, color=False)

    golden.check(f"text/{scene}_{width}.txt", text)


def test_golden_summary(golden: Golden) -> None:
    """After the findings, the run in numbers."""
    numbers = Summary(passes=1, steps=1200, ops=34_500, peak_saved_bytes=8_400_000, retained_bytes=512)

    golden.check("text/summary.txt", terminal(report(CARRIED, NEEDLESS, summary=numbers), width=90, color=False))


def test_report_without_findings_is_one_line() -> None:
    """Quiet when there is nothing to say."""
    assert terminal(report(), width=80, color=False) == "gradsan: nothing found\n"


def test_steps_are_reported_where_there_is_more_than_the_first() -> None:
    """That all is in step 1 helps nobody; that it is in step 7 says when."""

    def shown(step: int) -> str:
        places = {role: replace(getattr(CARRIED, role), step=step) for role in ("made", "freed", "enters", "used")}
        return terminal(report(replace(CARRIED, **places)), width=100, color=False)

    assert "in step" not in shown(1)
    assert shown(7).count("in step 7") == 4


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_color_adds_nothing_but_color(scene: Diagnosis) -> None:
    """Whoever reads a log reads the same words."""
    plain = terminal(report(scene), width=80, color=False)
    colored = terminal(report(scene), width=80, color=True)

    assert colored != plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


@given(width=st.integers(0, 200))
def test_every_width_shows_everything(width: int) -> None:
    """A narrow terminal gets more lines, never less of the explanation."""
    text = " ".join(terminal(report(CARRIED), width=width, color=False).split())

    for place in ("made, in step 1", "freed by this pass, in step 1", "needs it again, in step 2"):
        assert place in text
