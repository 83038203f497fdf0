"""What the tests of integrations share."""

from pathlib import Path

import pytest

from integrations.running import Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A folder to write programs into, and to start them in."""
    return Run(tmp_path)
