"""Every page of `gradsan explain` shows programs; here they are run."""

import pytest

from documents.press import Printed, run
from gradsan.causes import Cause, all_causes

pytestmark = pytest.mark.torch

EVERY_CAUSE = pytest.mark.parametrize("cause", all_causes(), ids=lambda each: each.code)


def printed(program: str) -> Printed:
    """What a program of a page leaves behind."""
    return run({"shown": program})["shown"]


@EVERY_CAUSE
def test_example_shows_what_its_page_says(cause: type[Cause]) -> None:
    """An error cause raises the error it quotes; a silent one ends well and prints what the page shows."""
    done = printed(cause.example.program)

    if cause.severity == "error":
        assert done.err.strip().splitlines()[-1].startswith(cause.example.shows)
    else:
        assert done == Printed(0, cause.example.shows, "")


@EVERY_CAUSE
def test_fixed_example_runs(cause: type[Cause]) -> None:
    """What the page offers as the fix ends without an error and prints what the page shows."""
    assert printed(cause.example.fixed) == Printed(0, cause.example.fixed_shows, "")


@EVERY_CAUSE
def test_wrong_fix_shows_what_it_costs(cause: type[Cause]) -> None:
    """It raises the error that the page quotes, or ends well and prints what the page shows."""
    done = printed(cause.tempting.program)

    if done.status:
        assert done.err.strip().splitlines()[-1].startswith(cause.tempting.shows)
    else:
        assert done == Printed(0, cause.tempting.shows, "")
    assert cause.tempting.price
