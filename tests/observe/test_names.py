"""The name through which a consumed graph survived, on programs that really fail."""

from pathlib import Path

import pytest

from observe.crossings import at, run_program
from observe.names_programs import PROGRAMS, Program


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.title)
def test_the_carrier_has_the_name_that_the_user_wrote(program: Program, tmp_path: Path) -> None:
    """The name is one that a reader of the program would point at."""
    watch = run_program(tmp_path, {"main.py": program.main, "parts.py": program.other})

    assert watch.crossing is not None
    where = f"made {at(watch.crossing.made)}; enters {at(watch.crossing.enters)}"
    assert watch.carrier is not None, where
    assert watch.carrier.name in program.names, where
