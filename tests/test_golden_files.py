"""`make golden` rewrites every golden file."""

import pytest

pytest_plugins = ["pytester"]

SUITE = """
def test_of_any_name(golden):
    golden.check({file!r}, "now")

def test_without_a_file():
    raise AssertionError
"""
CONFTEST = """
from golden_files import golden, pytest_addoption, pytest_collection_modifyitems
"""


def test_test_with_a_golden_file_is_rewritten_whatever_it_is_called(pytester: pytest.Pytester) -> None:
    """It is told by the fixture that it uses; no other test runs."""
    shown = pytester.path / "shown.txt"
    shown.write_text("before", encoding="utf-8")
    pytester.makepyfile(SUITE.format(file=str(shown)))
    pytester.makeconftest(CONFTEST)

    pytester.runpytest_inprocess("--update-golden").assert_outcomes(passed=1, deselected=1)

    assert shown.read_text(encoding="utf-8") == "now"
