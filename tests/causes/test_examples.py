"""Every page of `gradsan explain` shows programs; here they are run."""

import pytest

from documents.press import Printed, run
from gradsan.causes import Cause, all_causes

pytestmark = pytest.mark.torch

EVERY_CAUSE = pytest.mark.parametrize("cause", all_causes(), ids=lambda each: each.code)


@pytest.fixture(scope="module")
def printed() -> dict[str, Printed]:
    """What each program of each page leaves behind, by code and kind of program."""
    programs = {}
    for each in all_causes():
        programs[f"{each.code}-program"] = each.example.program
        programs[f"{each.code}-fixed"] = each.example.fixed
        programs[f"{each.code}-tempting"] = each.tempting.program
    return run(programs)


@EVERY_CAUSE
def test_example_shows_what_its_page_says(cause: type[Cause], printed: dict[str, Printed]) -> None:
    """An error cause raises the error it quotes; a silent one ends well and prints what the page shows."""
    done = printed[f"{cause.code}-program"]

    if cause.severity == "error":
        assert done.err.strip().splitlines()[-1].startswith(cause.example.shows)
    else:
        assert done == Printed(0, cause.example.shows, "")


@EVERY_CAUSE
def test_mended_example_runs(cause: type[Cause], printed: dict[str, Printed]) -> None:
    """What the page offers as the fix ends without an error and prints what the page shows."""
    assert printed[f"{cause.code}-fixed"] == Printed(0, cause.example.fixed_shows, "")


@EVERY_CAUSE
def test_wrong_fix_shows_what_it_costs(cause: type[Cause], printed: dict[str, Printed]) -> None:
    """It raises the error that the page quotes, or ends well and prints what the page shows."""
    done = printed[f"{cause.code}-tempting"]

    if done.status:
        assert done.err.strip().splitlines()[-1].startswith(cause.tempting.shows)
    else:
        assert done == Printed(0, cause.tempting.shows, "")
    assert cause.tempting.price
