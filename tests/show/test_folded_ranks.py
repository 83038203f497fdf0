"""Reports of ranks, as one."""

import pytest

from gradsan.report import Diagnosis, Report
from gradsan.show.ranks import folded, in_a_line, rank_names
from show.scenes import CARRIED, LEAK


def report(rank: int | None, *found: Diagnosis) -> Report:
    """What one process left."""
    return Report(gradsan="0.1.0", python="3.11", torch="2.13.0", argv=("train.py",), rank=rank, diagnoses=found)


@pytest.mark.parametrize(
    ("ranks", "names"),
    [([3], "rank 3"), ([1, 0], "ranks 0-1"), ([0, 1, 2, 5, 7, 8], "ranks 0-2, 5, 7-8"), ([0, 2], "ranks 0, 2")],
)
def test_ranks_are_named_in_runs(ranks: list[int], names: str) -> None:
    """Sixteen of them in one word."""
    assert rank_names(ranks) == names


def test_a_problem_of_all_ranks_is_shown_once() -> None:
    """With a note of their numbers."""
    (merged,) = folded(report(rank, CARRIED) for rank in reversed(range(16)))

    assert (merged.rank, len(merged.diagnoses)) == (0, 1)
    assert merged.diagnoses[0].notes == ("seen on ranks 0-15", *CARRIED.notes)
    assert in_a_line(merged.diagnoses[0]) == "gradsan: GS103 carried-state at train.py:58, seen on ranks 0-15\n"


def test_a_rank_that_differs_is_shown_beside_them() -> None:
    """What it has in common with others stands with the others."""
    first, other = folded([report(0, CARRIED), report(1, CARRIED), report(2, CARRIED, LEAK), report(3)])

    assert [each.notes[0] for each in first.diagnoses] == ["seen on ranks 0-2"]
    assert (other.rank, [each.code for each in other.diagnoses]) == (2, [LEAK.code])
    assert other.diagnoses[0].notes[0] == "seen on rank 2"


def test_processes_that_are_no_ranks_stay_apart() -> None:
    """Trials and tests, each with what it found; where nothing was found at all, one says so."""
    assert folded([report(None, CARRIED), report(None, CARRIED)]) == [report(None, CARRIED)] * 2
    assert folded([report(1), report(0)]) == [report(0)]
