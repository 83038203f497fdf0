"""A few of the mutants that `make prove` reads by the thousand."""

from pathlib import Path

import pytest

from check import fuzz


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_no_mutant_shows_a_fault(tmp_path: Path, first: int) -> None:
    """Of the standard library, of torch and of the corpus: always the same ones."""
    files = fuzz.sources()

    assert [fuzz.fault(fuzz.mutant(seed, files), tmp_path) for seed in range(first, first + 20)] == [None] * 20


def test_fault_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else finding none would say nothing."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("gradsan.check.starts.run_main", fail)

    assert "ZeroDivisionError" in str(fuzz.fault(b"import torch\nloss.backward()\n", tmp_path))
