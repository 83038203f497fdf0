"""The explanation on a terminal, at several widths; the golden files are what a reader sees."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TextIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from golden_files import Golden
from gradsan.entry.screen import encodable
from gradsan.report import Diagnosis, Summary
from gradsan.show.code_frames import framed
from gradsan.show.text import terminal
from show.scenes import CARRIED, FOREIGN, NEEDLESS, SHARED, WRAPPED, report

SCENES = {
    "carried_state": CARRIED,
    "same_line_twice": WRAPPED,
    "needless_retain": NEEDLESS,
    "used_before_freed": SHARED,
    "other_scripts": FOREIGN,
}
FORMS: dict[str, Callable[..., str]] = {"run": terminal, "check": partial(framed, lines=lambda at: at.source)}


class Ascii:
    """A stream of a C locale."""

    encoding = "ascii"


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("form", FORMS)
def test_golden_explanation(form: str, scene: str, width: int, golden: Golden) -> None:
    """What is wrong, the fix, and what happened in the order of time; the same in colours, and in ASCII."""
    text = FORMS[form](report(SCENES[scene]), width=width, color=False)
    colored = FORMS[form](report(SCENES[scene]), width=width, color=True)

    golden.check(f"text/{form}_{scene}_{width}.txt", text)
    golden.check(f"text/{form}_{scene}_{width}_color.txt", colored)
    golden.check(f"text/{form}_{scene}_{width}_ascii.txt", encodable(text, cast("TextIO", Ascii())))
    assert all(cell_len(line) <= width for line in text.splitlines())


def test_golden_verbose(golden: Golden) -> None:
    """The path through the graph, and memory, for whoever asks."""
    golden.check("text/verbose.txt", terminal(report(CARRIED, WRAPPED), width=80, color=False, verbose=True))


@pytest.mark.parametrize(("used", "freed", "order"), [(1, 1, [1, 3, 2, 4]), (2, 1, [1, 2, 3, 4])])
def test_places_stand_in_the_order_of_time(used: int, freed: int, order: list[int]) -> None:
    """What is used above the line that frees it, in the same step, was used before."""
    assert SHARED.enters is not None
    assert SHARED.freed is not None
    scene = replace(SHARED, enters=replace(SHARED.enters, step=used), freed=replace(SHARED.freed, step=freed))
    words = ("created here", "freed by this backward()", "used again here", "it is gone")
    shown = [line for line in terminal(report(scene), width=120, color=False).splitlines() if line.startswith("  ")]

    assert [number for line in shown for number, each in enumerate(words, 1) if each in line] == order


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

    for place in (
        "created here, in step 1",
        "freed by this backward(), in step 1",
        "this backward() needs it, but it is gone, in step 2",
    ):
        assert place in text
