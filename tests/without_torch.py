"""`--without-torch`: what needs no torch is tested by interpreters that have none; what needs it is left out.

A module needs it that cannot be imported without, and so does a test that is marked `torch`: its programs import it.
Without the option nothing is left out, whatever is missing.
"""

from collections.abc import Iterable
from pathlib import Path

import pytest

_OPTION = "--without-torch"


def add_option(parser: pytest.Parser) -> None:
    """Only `make test` asks for it."""
    parser.addoption(_OPTION, action="store_true", help="leave out what needs torch")


def module_of(path: Path, parent: pytest.Collector) -> "PureModule | None":
    """A module of which it is not known whether it needs torch; None where all are wanted."""
    return PureModule.from_parent(parent, path=path) if parent.config.getoption(_OPTION) else None


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The tests whose programs import torch."""
    if config.getoption(_OPTION):
        others = [each for each in items if each.get_closest_marker("torch")]
        items[:] = [each for each in items if each not in set(others)]
        config.hook.pytest_deselected(items=others)


class PureModule(pytest.Module):
    """Has no tests where torch would be needed to import it."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Its tests."""
        try:
            return super().collect()
        except pytest.Collector.CollectError as error:
            if getattr(error.__cause__, "name", None) == "torch":
                return []
            raise
