"""Rendered text, compared with what somebody last read."""

from dataclasses import dataclass
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden"


@dataclass(frozen=True, slots=True)
class Golden:
    """Rendered text as it was when somebody last read it; the files are read in review."""

    update: bool

    def check(self, name: str | Path, text: str) -> None:
        """Demand that `text` is what the file holds: one of the golden files, or one elsewhere by its whole path."""
        __tracebackhide__ = True
        file = FOLDER / name
        if self.update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        if not file.exists():
            pytest.fail(f"there is no golden file {name}; write it with --update-golden")
        assert text == file.read_text(encoding="utf-8"), f"{name} differs; if that is meant, run with --update-golden"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Golden files under `tests/golden`."""
    return Golden(update=request.config.getoption("--update-golden"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Read in review what `pytest --update-golden` changed."""
    help_text = "rewrite the golden files with what is rendered now; runs no other tests"
    parser.addoption("--update-golden", action="store_true", help=help_text)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--update-golden`, every test that has the fixture, whatever it is called."""
    if config.getoption("--update-golden"):
        others = [each for each in items if "golden" not in getattr(each, "fixturenames", ())]
        items[:] = [each for each in items if each not in set(others)]
        config.hook.pytest_deselected(items=others)
