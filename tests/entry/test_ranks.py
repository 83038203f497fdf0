"""Processes that train together explain a problem once, and say which of them have it."""

import json
import sys
from pathlib import Path

import pytest

from warm import Ended, Warm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ranks are forked")

# Two ranks are forked: importing torch twice takes longer than all they do.
TRAINS = """\
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


def train(rank, broken):
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)
    model = DistributedDataParallel(torch.nn.Linear(4, 4))
    state = torch.zeros(1, 4)
    for _ in range(3):
        if rank not in broken:
            state = state.detach()
        state = model(state + 1)
        state.sum().backward()


if __name__ == "__main__":
    context = mp.get_context("fork")
    ranks = [context.Process(target=train, args=(rank, BROKEN)) for rank in range(2)]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join()
    sys.exit(any(each.exitcode for each in ranks))
"""


def trained(folder: Path, broken: set[int], *options: str, program: str = TRAINS) -> Ended:
    """By two ranks, of which some carry their state on."""
    script = folder / "train.py"
    script.write_text(program.replace("BROKEN", repr(broken)))
    return Warm().run(script, "run", *options)


def test_rank_that_differs_is_named_with_its_line(tmp_path: Path) -> None:
    """The other fails, too, when its partner is gone; that is no finding."""
    ended = trained(tmp_path, {1}, "--output", "reports/")

    assert ended.status == 1
    assert ended.stderr.count("fix: detach `state`") == 1
    assert "note: seen on rank 1 of 2" in ended.stderr
    assert ended.stderr.endswith("gradsan: GS103 carried-state at train.py:18, seen on rank 1\n")
    report = json.loads((tmp_path / "reports" / "rank-1.json").read_text())
    assert (report["rank"], [each["code"] for each in report["diagnoses"]]) == (1, ["GS103"])


def test_same_problem_of_two_ranks_is_explained_once(tmp_path: Path) -> None:
    """The second refers to the first."""
    ended = trained(tmp_path, {0, 1})

    assert ended.stderr.count("fix: detach `state`") == 1
    assert ended.stderr.count("the same as on rank") == 1
    assert ended.stderr.endswith("gradsan: GS103 carried-state at train.py:18, seen on ranks 0-1\n")


def test_two_problems_are_explained_beside_each_other(tmp_path: Path) -> None:
    """Each with the rank that has it."""
    apart = TRAINS.replace("DistributedDataParallel(torch.nn.Linear(4, 4))", "torch.nn.Linear(4, 4)")
    twice = apart.replace("state.sum().backward()", "loss = state.exp().sum()\n        loss.backward()\n" + 8 * " " + (
        "if rank == 0:\n            loss.backward()"
    ))  # fmt: skip

    ended = trained(tmp_path, {1}, program=twice)

    assert ended.stderr.endswith(
        "gradsan: GS101 same-loss-twice at train.py:21, seen on rank 0\n"
        "gradsan: GS103 carried-state at train.py:19, seen on rank 1\n"
    )
    assert "the same as on rank" not in ended.stderr


def test_right_ranks_are_quiet(tmp_path: Path) -> None:
    """There is nothing to fold."""
    ended = trained(tmp_path, set())

    assert (ended.status, "gradsan" in ended.stderr) == (0, False)
