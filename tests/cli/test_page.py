"""The page of a cause and the table of causes, as text."""

import re

import pytest

from golden_files import Golden
from gradsan.causes import Cause, all_causes, cause
from gradsan.show.page import page, table


@pytest.mark.parametrize("code", ["GS103", "GS302"])
def test_page_reads_well(code: str, golden: Golden) -> None:
    """One that raises, and a silent one."""
    golden.check(f"page/{code}.txt", page(cause(code), width=80, color=False))


def test_page_in_colour(golden: Golden) -> None:
    """Headings, the error, inline code and the lines of the difference stand out."""
    golden.check("page/GS103-color.txt", page(cause("GS103"), width=80, color=True))


@pytest.mark.parametrize("width", [50, 80])
def test_table_reads_well(width: int, golden: Golden) -> None:
    """In its three groups; where there is no room beside a name, the summary goes below it."""
    causes = [cause(code) for code in ("GS101", "GS103", "GS106", "GS201", "GS302")]

    golden.check(f"page/table-{width}.txt", table(causes, width=width, color=False))


@pytest.mark.parametrize("each", all_causes(), ids=lambda each: each.code)
def test_page_holds_all_that_its_cause_says(each: type[Cause]) -> None:
    """Word for word, whatever the wrapping; and every changed line of the example."""
    text = page(each, width=80, color=False)

    flat = " ".join(text.split())
    for part in (
        *each.explanation(),
        each.example.program,
        each.example.shows,
        each.fix,
        each.unless,
        each.tempting.price,
    ):
        assert " ".join(part.split()) in flat
    for changed in (each.example.fixed, each.tempting.program):
        for line in set(changed.splitlines()) - set(each.example.program.splitlines()):
            assert f"    + {line}\n" in text


@pytest.mark.parametrize("each", all_causes(), ids=lambda each: each.code)
def test_colour_changes_no_text(each: type[Cause]) -> None:
    """So that a plain page is the page."""
    colored = page(each, width=72, color=True)

    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == page(each, width=72, color=False)


@pytest.mark.parametrize("width", [0, 40, 57, 80, 200])
def test_prose_is_never_wider_than_asked(width: int) -> None:
    """Down to what can still be read."""
    for each in all_causes():
        prose = page(each, width=width, color=False).partition("\nExample\n")[0]
        assert max(map(len, prose.splitlines())) <= max(width, 40)
