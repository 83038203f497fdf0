"""What tests of every room share."""

from dataclasses import dataclass
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Read in review what `pytest --update-golden` changed."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files with what is rendered now")


@dataclass(frozen=True, slots=True)
class Golden:
    """Rendered text as it was when somebody last read it; the files are read in review."""

    update: bool

    def check(self, name: str, text: str) -> None:
        """Demand that `text` is what the file `name` holds."""
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
