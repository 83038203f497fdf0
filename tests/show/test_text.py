"""The explanation on a terminal, at several widths; the golden files are what a reader sees."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TextIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from golden_files import Golden
from gradsan.entry.screen import encodable
from gradsan.facts.location import Frame
from gradsan.fix.writing.editing import unified_diff
from gradsan.report import Diagnosis, Effects, Summary
from gradsan.show.code_frames import framed
from gradsan.show.places import explanation_places
from gradsan.show.text import closing, proposal, terminal
from show.scenes import (
    CARRIED,
    EDITED,
    FOREIGN,
    LEAK,
    LOST,
    NEEDLESS,
    PILED,
    SHARED,
    UNREADABLE,
    WRAPPED,
    at,
    report,
)

SCENES = {
    "carried_state": CARRIED,
    "same_line_twice": WRAPPED,
    "needless_retain": NEEDLESS,
    "used_before_freed": SHARED,
    "edited_in_place": EDITED,
    "lost_graph": LOST,
    "leak": LEAK,
    "piled_gradients": PILED,
    "unreadable": UNREADABLE,
    "other_scripts": FOREIGN,
}
WIDTHS = (60, 80, 120)
NUMBERS = Summary(passes=1200, steps=1200, ops=34_500, peak_saved_bytes=8_400_000, retained_bytes=512)


def fixed(scene: Diagnosis, *, width: int, color: bool) -> str:
    """As `gradsan fix` prints it, with a patch where there is an edit."""
    edits = [edit for fix in scene.fixes[:1] for edit in fix.edits]
    patch = "".join(unified_diff(each.file, _lines(each.old), _lines(each.new)) for each in edits)
    why = "certain: with this edit, the source shows neither this problem nor another one"
    return proposal(scene, patch, why if patch else "nothing was tried", width=width, color=color, is_made=bool(patch))


def _lines(text: str) -> list[str]:
    return [f"{line}\n" for line in text.split("\n")]


# What each command prints of a scene.
FORMS: dict[str, Callable[..., str]] = {
    "run": lambda scene, **screen: terminal(report(scene), **screen),
    "run_ended_well": lambda scene, **screen: closing(NUMBERS, [scene], **screen),
    "check": lambda scene, **screen: framed(report(scene), lines=lambda at: at.source, **screen),
    "fix": fixed,
}
PRINTED = [
    (form, scene)
    for form in FORMS
    for scene, diagnosis in SCENES.items()
    if form != "run_ended_well" or (diagnosis.severity == "warning" and diagnosis.origin == "run")
]


class Ascii:
    """A stream of a C locale."""

    encoding = "ascii"


@pytest.mark.parametrize(("form", "scene"), PRINTED)
def test_golden_explanation(form: str, scene: str, golden: Golden) -> None:
    """What is wrong, the fix, and what happened in the order of time, on each screen."""
    plain = {width: FORMS[form](SCENES[scene], width=width, color=False) for width in WIDTHS}
    colored = {width: FORMS[form](SCENES[scene], width=width, color=True) for width in plain}
    ascii_only = {width: encodable(text, cast("TextIO", Ascii())) for width, text in plain.items()}

    golden.check(f"text/{form}/{scene}.txt", _side_by_side(plain))
    golden.check(f"text/{form}/{scene}.color.txt", _side_by_side(colored))
    if ascii_only != plain:
        golden.check(f"text/{form}/{scene}.ascii.txt", _side_by_side(ascii_only))
    for width, text in plain.items():
        prose = [
            line for line in text.splitlines() if not line.startswith(("---", "+++", "@@", "-", "+", "  -", "  +"))
        ]
        assert [line for line in prose if cell_len(line) > width] == []


def _check_widths(golden: Golden, name: str, printed: Callable[..., str]) -> None:
    """Plain and coloured, on each screen."""
    for ending, color in (("txt", False), ("color.txt", True)):
        golden.check(
            f"text/{name}.{ending}",
            _side_by_side({width: printed(width=width, color=color) for width in WIDTHS}),
        )


def _side_by_side(texts: dict[int, str]) -> str:
    return "".join(f"=== {width} columns\n{text}" for width, text in texts.items())


def test_no_scene_needs_more_than_ascii() -> None:
    """But for names and source of the user's: the marks are gradsan's own."""
    assert {scene for form, scene in PRINTED if not FORMS[form](SCENES[scene], width=80, color=False).isascii()} == {
        "other_scripts"
    }


def test_golden_verbose(golden: Golden) -> None:
    """The path through the graph, and memory, for whoever asks."""
    _check_widths(golden, "verbose", lambda **screen: terminal(report(CARRIED, WRAPPED), verbose=True, **screen))


@pytest.mark.parametrize(("used", "freed", "order"), [(1, 1, [1, 3, 2, 4]), (2, 1, [1, 2, 3, 4])])
def test_places_stand_in_the_order_of_time(used: int, freed: int, order: list[int]) -> None:
    """What is used above the line that frees it, in the same step, was used before."""
    assert SHARED.enters is not None
    assert SHARED.freed is not None
    scene = replace(SHARED, enters=replace(SHARED.enters, step=used), freed=replace(SHARED.freed, step=freed))
    words = ("created here", "freed by this backward()", "used again here", "it is gone")
    shown = [line for line in terminal(report(scene), width=120, color=False).splitlines() if line.startswith("  ")]

    assert [number for line in shown for number, each in enumerate(words, 1) if each in line] == order


@pytest.mark.parametrize(("caller", "order"), [(4, [1, 3, 2, 4]), (13, [1, 2, 3, 4])])
def test_calls_say_what_came_first(caller: int, order: list[int]) -> None:
    """Where the graph is created in another function than it is freed: by the lines that call them."""
    forward = [(Frame("train.py", caller, "train"), Frame("model.py", line, "forward")) for line in (8, 10)]
    scene = replace(
        SHARED,
        made=replace(at("model.py", 8, "h = self.body(x)"), function="forward", stack=forward[0]),
        enters=replace(at("model.py", 10, "return self.a(h)"), function="forward", stack=forward[1]),
        freed=at("train.py", 12, "loss_a.backward()", stack=(Frame("train.py", 12, "train"),)),
    )

    roles = ["made", "freed", "enters", "used"]
    assert [roles.index(role) + 1 for role, _, _ in explanation_places(scene)] == order


@pytest.mark.parametrize("verbose", [False, True])
def test_memory_of_a_fix_is_for_whoever_asks(verbose: bool) -> None:  # noqa: FBT001 # a parameter
    """What becomes of the gradients is for everybody."""
    effects = Effects(saved_bytes=5_700, walked_ops=147)
    scene = replace(CARRIED, fixes=(replace(CARRIED.fixes[0], effects=effects),))
    text = proposal(scene, "", "", width=200, color=False, is_made=False, verbose=verbose)

    assert "with the fix: the error ends; " in text
    assert "every parameter still gets its gradient" in text
    assert ("147 ops" in text, "5.7 KB" in text) == (verbose, verbose)


def test_golden_summary(golden: Golden) -> None:
    """After the findings, the run in numbers."""
    numbers = Summary(passes=1, steps=1200, ops=34_500, peak_saved_bytes=8_400_000, retained_bytes=512)

    _check_widths(golden, "summary", lambda **screen: terminal(report(CARRIED, NEEDLESS, summary=numbers), **screen))


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
