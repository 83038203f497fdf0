"""`docs/codes` is what the causes say and what the commands print; `make golden` rewrites it."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from documents.api_page import api_page
from documents.code_pages import pages, spoken
from documents.command_page import commands_page
from documents.error_page import error_page
from documents.press import Printed, run
from golden_files import Golden
from gradsan.causes import Cause, all_causes
from gradsan.causes.unreadable import Unreadable

FOLDER = Path(__file__).parents[2] / "docs" / "codes"


@pytest.mark.skipif(not version("torch").startswith("2.13"), reason="the pages show the words of torch 2.13")
def test_code_pages_are_what_the_code_prints(golden: Golden) -> None:
    """Every program is run under `gradsan run`; a page that shows anything else is out of date."""
    programs = {each.code: each.example.program for each in all_causes()}
    unread = {Unreadable.code: programs.pop(Unreadable.code)}  # what does not even run is checked

    printed = run(programs, ["gradsan", "run"])
    checked = run(unread, ["gradsan", "check", "--no-cache"])[Unreadable.code]
    stopped = run(unread)[Unreadable.code]
    printed[Unreadable.code] = Printed(1, "", f"{stopped.err}\n{checked.out}")
    written = pages(all_causes(), printed)

    for name, text in written.items():
        golden.check(FOLDER / name, text)
    assert {file.name for file in FOLDER.iterdir()} == set(written)
    said = {code: spoken(each)[0] for code, each in printed.items()}
    golden.check(FOLDER.parent / "errors.md", error_page(all_causes(), said))
    of_errors = {each.code for each in all_causes() if each.severity == "error" and each is not Unreadable}
    assert of_errors == {code for code in of_errors if f"](codes/{code}.md) |" in error_page(all_causes(), said)}


@pytest.mark.parametrize("each", all_causes(), ids=lambda each: each.code)
def test_gradsan_explains_the_example_by_its_code(each: type[Cause]) -> None:
    """A page whose program is told as something else would teach nothing."""
    page = (FOLDER / f"{each.code}.md").read_text(encoding="utf-8")

    assert re.search(rf"^(error\[)?{each.code}\]? {each.name}: ", page, re.MULTILINE)


def test_command_page_is_what_the_commands_say(golden: Golden) -> None:
    """Everything that exists is on it, and everything on it exists."""
    golden.check(FOLDER.parent / "commands.md", commands_page())


def test_page_of_names_is_what_the_package_offers(golden: Golden) -> None:
    """A name that may be imported is on the page, with its own words."""
    golden.check(FOLDER.parent / "api.md", api_page())
