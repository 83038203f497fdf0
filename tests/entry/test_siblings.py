"""Who explains what, among processes that one launcher has started."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gradsan.entry.among_ranks import summary_of_ranks
from gradsan.entry.siblings import OUTPUT, Launched, Siblings
from gradsan.report import Report
from gradsan.show.json import write
from show.scenes import CARRIED

REPORT = Report(gradsan="0.1.0", python="3.11", torch="2.13.0", argv=("train.py",), diagnoses=(CARRIED,))

Started = Callable[[int], Siblings]  # a rank that this process has started


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Started:
    """Ranks of one launcher, which is this process."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.delenv("MASTER_PORT", raising=False)
    monkeypatch.setattr(os, "getppid", os.getpid)
    monkeypatch.setattr("gradsan.entry.siblings.is_launched", lambda: True)

    def start(rank: int) -> Siblings:
        monkeypatch.setattr("gradsan.entry.ranks._known", {})
        monkeypatch.setenv("RANK", str(rank))
        return Siblings()

    return start


def test_the_first_explains_and_others_refer_to_it(started: Started) -> None:
    """Whoever comes first, and however often it is asked."""
    first = started(2)
    assert first.explained_by("6f1c") is None
    assert first.explained_by("6f1c") is None

    assert started(0).explained_by("6f1c") == 2


def test_another_problem_is_explained_beside_it(started: Started) -> None:
    """A rank that differs is shown."""
    started(0).explained_by("6f1c")

    assert started(3).explained_by("77aa") is None


def test_another_run_of_the_same_launcher_explains_by_itself(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two in one cluster have ports of their own; what is older than a process is of a run before it."""
    monkeypatch.setenv("MASTER_PORT", "1000")
    started(0).explained_by("6f1c")

    monkeypatch.setenv("MASTER_PORT", "1001")
    assert started(1).explained_by("6f1c") is None

    monkeypatch.setenv("MASTER_PORT", "1000")
    monkeypatch.setattr("gradsan.entry.siblings._began", lambda: float("inf"))
    assert started(1).explained_by("6f1c") is None


def test_without_a_folder_every_rank_explains(
    started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is missing, or is a link that somebody else may have put there."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / f"gradsan-{os.getuid()}").symlink_to(elsewhere)
    assert [started(rank).explained_by("6f1c") for rank in (0, 1)] == [None, None]
    assert not [*elsewhere.iterdir()]

    monkeypatch.setenv("TMPDIR", str(tmp_path / "missing"))
    assert [started(rank).explained_by("6f1c") for rank in (0, 1)] == [None, None]


def test_launcher_knows_what_was_left_and_shown_and_leaves_nothing(started: Started, tmp_path: Path) -> None:
    """A rank that was ended while it printed has not shown its explanation."""
    for rank in (0, 1):
        each = started(rank)
        each.explained_by(f"problem-of-{rank}")
        each.leave("{}")
        if rank == 0:
            each.confirm()

    launched = Launched()
    assert [each.name for each in launched.reports()] == ["rank-0.json", "rank-1.json"]
    assert [launched.has_shown(f"problem-of-{rank}") for rank in (0, 1)] == [True, False]

    launched.forget()
    assert not [*(tmp_path / f"gradsan-{os.getuid()}").iterdir()]


def test_reports_also_lie_where_they_are_wanted(
    started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`gradsan run --output DIR/` says so by a variable, which every process inherits."""
    monkeypatch.setenv(OUTPUT, str(tmp_path / "reports" / "here"))

    started(3).leave("{}")

    assert (tmp_path / "reports" / "here" / "rank-3.json").read_text() == "{}"


def test_launcher_explains_what_a_rank_was_ended_over(started: Started) -> None:
    """Where nobody has shown an explanation, it is not enough to refer to one."""
    for rank in (0, 1):
        each = started(rank)
        each.explained_by(CARRIED.fingerprint)
        each.leave(write(replace(REPORT, rank=rank)))

    assert summary_of_ranks(lambda each: f"{each.code}, {each.notes[0]}") == "GS103, seen on ranks 0-1"
    assert summary_of_ranks(str) == ""
