"""A share of `make prove`'s kills and faults."""

import sys
from pathlib import Path

import pytest

from fix.chaos import clean, play

SEEDS = (0, 1, 4, 5, 6, 7)  # each kind of fault


@pytest.mark.cold  # whom a command has started is told by their parents
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_every_file_is_old_or_new_and_nothing_is_left(tmp_path: Path) -> None:
    """Whoever kills the command, and when; whatever keeps it from writing; whoever writes at the same time."""
    new = clean(tmp_path.resolve())

    played = [play(seed, new) for seed in SEEDS]

    assert [(what, faults) for what, faults in played if faults] == []
