"""Rendered text, compared with what somebody last read."""

from dataclasses import dataclass
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden"


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
