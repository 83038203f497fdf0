"""An error that is waited for stays as it is."""

import doctest
import io

from observe.conftest import Watched

RAISES = """
>>> import torch
>>> loss = torch.ones(2, requires_grad=True).exp().sum()
>>> loss.backward()
>>> loss.backward()
"""
MESSAGE = "RuntimeError: Trying to backward through the graph a second time (or directly access"
EXPECTED = f"{RAISES}Traceback (most recent call last):\n    ...\n{MESSAGE} ...\n"


def _ran(text: str) -> tuple[int, str]:
    test = doctest.DocTestParser().get_doctest(text, {}, "shown", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    out = io.StringIO()
    failed, _ = runner.run(test, out=out.write)
    return failed, out.getvalue()


def test_doctest_that_shows_an_error_passes(watched: Watched) -> None:
    """It compares the last line of the exception, which a note would be."""
    with watched():
        failed, printed = _ran(EXPECTED)

    assert failed == 0, printed


def test_doctest_that_shows_none_fails_with_the_explanation(watched: Watched) -> None:
    """There nothing is compared, and whoever reads it wants to know."""
    with watched():
        failed, printed = _ran(RAISES)

    assert failed == 1
    assert "GS10" in printed
