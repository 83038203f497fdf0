"""When a process of a trial has done enough."""

import pytest

from gradsan.entry.ending import Ending
from gradsan.fix.trials.arrangement import Limit


def steps_until_the_end(limit: Limit, *, passes_to_a_step: int = 1, most: int = 1000) -> int:
    """How many steps a program makes that takes some passes for each."""
    ending = Ending(limit, lambda: None)
    for _ in range(most):
        try:
            for _ in range(passes_to_a_step):
                ending.passing()
        except SystemExit:
            return ending.steps
        ending.stepping()
    return most


@pytest.mark.parametrize("passes_to_a_step", [1, 2, 8])
def test_program_ends_before_the_pass_that_follows_its_last_step(passes_to_a_step: int) -> None:
    """However many passes a step takes."""
    assert steps_until_the_end(Limit(5), passes_to_a_step=passes_to_a_step) == 5


def test_program_without_limit_runs_on_and_so_does_one_that_has_just_begun() -> None:
    """A short program comes to its own end, where its last lines run too."""
    assert steps_until_the_end(Limit()) == 1000
    assert steps_until_the_end(Limit(5, seconds=60.0)) == 1000


def test_processes_that_work_together_end_at_the_same_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their clocks differ, and one would wait for the other."""
    monkeypatch.setenv("WORLD_SIZE", "2")

    assert steps_until_the_end(Limit(5, seconds=60.0)) == 5


def test_program_without_an_optimizer_ends_too() -> None:
    """It is known by its many passes."""
    ending = Ending(Limit(2), lambda: None)
    for _ in range(2 * 32):
        ending.passing()

    with pytest.raises(SystemExit):
        ending.passing()

    assert ending.came


def test_program_that_catches_its_end_is_ended_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it leaves behind is written first."""
    done: list[object] = []
    monkeypatch.setattr("os._exit", done.append)
    ending = Ending(Limit(1), lambda: done.append("left"))
    ending.passing()
    ending.stepping()

    while not done:
        with pytest.raises(SystemExit):
            ending.passing()

    assert done == ["left", 0]
