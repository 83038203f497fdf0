"""The pytest plugin: `pytest --gradsan` explains failures, and fails tests on problems that never raise.

pytest loads this file in every run of every project that has gradsan installed. So it only adds options; all else, and
all of gradsan, is imported when somebody asks for it (`pytest_watching.py`).
"""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from gradsan.entry.installing import Watch

FAIL_ON = ("warning", "error", "never")
OLDEST = 8  # pytest's major version with wrappers as they are used here
MARKER = (
    "gradsan(ignore=[], fail_on=None): with --gradsan, problems of these codes do not fail this test; "
    "fail_on is one of warning, error, never"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `pytest --help` lists."""
    group = parser.getgroup("gradsan", "PyTorch's autograd graph")
    group.addoption(
        "--gradsan",
        action="store_true",
        default=None,
        dest="gradsan",
        help="explain failures of backward passes, and fail tests on problems that raise no error",
    )
    group.addoption(
        "--no-gradsan",
        action="store_false",
        dest="gradsan",
        help="do not, though the ini file says `gradsan = true`",
    )
    group.addoption(
        "--gradsan-fail-on",
        choices=FAIL_ON,
        help="fail a test if a problem of at least this level was found in it (default: warning)",
    )
    group.addoption(
        "--gradsan-ignore", action="append", default=[], metavar="CODES", help="problems that fail no test: GS302,GS304"
    )
    parser.addini("gradsan", "as if --gradsan were given", type="bool", default=False)
    parser.addini("gradsan_fail_on", "as --gradsan-fail-on", default="warning")
    parser.addini("gradsan_ignore", "as --gradsan-ignore", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Switch gradsan on, if that is asked for."""
    config.addinivalue_line("markers", MARKER)
    asked = config.getoption("gradsan")
    if not (config.getini("gradsan") if asked is None else asked):
        return
    if int(pytest.__version__.split(".")[0]) < OLDEST:
        raise pytest.UsageError(
            f"--gradsan needs pytest {OLDEST} or later; install it with `pip install 'gradsan[pytest]'`"
        )
    from gradsan.errors import GradsanError
    from gradsan.plug.pytest_watching import Watching

    try:
        watching = Watching.begun(config)
    except GradsanError as error:
        raise pytest.UsageError(f"--gradsan: {error}") from None
    config.pluginmanager.register(watching, "gradsan-watching")


@pytest.fixture
def gradsan_watch() -> "Callable[[], AbstractContextManager[Watch]]":
    """To be called around a block, which it watches as `gradsan.watch()` does: see its `diagnoses` afterwards.

    A test that asks for this fixture judges by itself: `--gradsan` explains its errors, and fails it for nothing else.
    """
    from functools import partial

    from gradsan.entry.installing import watch

    return partial(watch, quiet=True)
