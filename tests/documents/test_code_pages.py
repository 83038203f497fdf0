"""`docs/codes` is what the causes say and what the commands print; `make golden` rewrites it."""

from importlib.metadata import version
from pathlib import Path

import pytest

from documents.code_pages import pages
from documents.press import run
from golden_files import Golden
from gradsan.causes import Cause, all_causes

FOLDER = Path(__file__).parents[2] / "docs" / "codes"


@pytest.mark.skipif(not version("torch").startswith("2.13"), reason="the pages show the words of torch 2.13")
def test_code_pages_are_what_the_code_prints(golden: Golden) -> None:
    """Every program is run under `gradsan run`; a page that shows anything else is out of date."""
    programs = {each.code: each.example.program for each in all_causes()}

    written = pages(all_causes(), run(programs, ["gradsan", "run"]))

    for name, text in written.items():
        golden.check(FOLDER / name, text)
    assert {file.name for file in FOLDER.iterdir()} == set(written)


@pytest.mark.parametrize("each", all_causes(), ids=lambda each: each.code)
def test_gradsan_explains_the_example_by_its_code(each: type[Cause]) -> None:
    """A page whose program is told as something else would teach nothing."""
    assert f"\n{each.code} {each.name}: " in (FOLDER / f"{each.code}.md").read_text(encoding="utf-8")
