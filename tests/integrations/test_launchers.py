"""However ranks are started, there is one explanation, and every rank that has the problem is named."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from documents.test_documents import SHOWN
from golden_files import Golden
from integrations.running import Done, Run

PROJECT = Path(__file__).parents[2]
PAGE = PROJECT / "docs" / "distributed.md"
TRAINS = (PROJECT / "docs" / "distributed" / "train.py").read_text(encoding="utf-8")
EXPLAINED = "fix: detach `state` between the steps"
LINE = "gradsan: GS103 carried-state at train.py:15, seen on "

pytestmark = pytest.mark.cold  # launchers start real interpreters


def port() -> str:
    """One that is free."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def torchrun(run: Run, ranks: int, *arguments: str, **variables: str) -> Done:
    """`GRADSAN=1 torchrun --nproc-per-node RANKS train.py ARGUMENTS`."""
    words = ["--nproc-per-node", str(ranks), "--master-port", port(), "train.py", *arguments]
    return run("-m", "torch.distributed.run", *words, environment={"GRADSAN": "1"} | variables)


def test_sixteen_ranks_with_the_same_problem_explain_it_once(run: Run) -> None:
    """And the launcher says in one line who has it; some may have been ended before they could say so."""
    run.write("train.py", TRAINS)

    done = torchrun(run, 16, *map(str, range(16)))

    assert done.returncode == 1
    assert done.stderr.count(EXPLAINED) == 1
    assert len(re.findall("^gradsan: ", done.stderr, re.MULTILINE)) == 1
    assert re.search(rf"^{re.escape(LINE)}ranks \d+-\d+", done.stderr, re.MULTILINE)


def test_rank_that_differs_is_named(run: Run) -> None:
    """Its partner fails when it is gone, and has nothing to report."""
    run.write("train.py", TRAINS)

    done = run("-m", "gradsan", "run", "--output", "reports/", "-m", "torch.distributed.run", "--nproc-per-node", "2",
               "--master-port", port(), "train.py", "1")  # fmt: skip

    assert done.stderr.count(EXPLAINED) == 1
    assert "note: seen on rank 1 of 2" in done.stderr
    assert done.stderr.endswith(f"{LINE}rank 1\n")
    report = json.loads((run.folder / "reports" / "rank-1.json").read_text())
    assert (report["rank"], [each["code"] for each in report["diagnoses"]]) == (1, ["GS103"])
    merged = run("-m", "gradsan", "report", "reports")
    assert (merged.returncode, merged.stdout.count("note: seen on rank 1\n")) == (0, 1)


def test_rank_that_hangs_changes_nothing(run: Run) -> None:
    """Nobody waits for it but the launcher, which ends it."""
    hangs = "import os, time\nif os.environ['RANK'] == '0':\n    time.sleep(1000)\n"
    alone = TRAINS.replace('dist.init_process_group("gloo")\n', "").replace("dist.destroy_process_group()\n", "")
    alone = alone.replace("DistributedDataParallel(torch.nn.Linear(4, 4))", "torch.nn.Linear(4, 4)")
    run.write("train.py", hangs + alone.replace("str(dist.get_rank())", "os.environ['RANK']"))

    done = torchrun(run, 2, "1")

    assert done.stderr.count(EXPLAINED) == 1
    assert re.search(r"^gradsan: GS103 carried-state at train.py:\d+, seen on rank 1$", done.stderr, re.MULTILINE)


def test_silent_problem_of_all_ranks_is_reported_once(run: Run) -> None:
    """`GRADSAN=run`: by the first rank that ends."""
    kept = TRAINS.replace("backward()", "backward(retain_graph=True)").replace("range(3)", "range(6)")
    run.write("train.py", kept)

    done = torchrun(run, 2, GRADSAN="run")

    assert done.returncode == 0
    assert done.stderr.count("GS302 needless-retain: ") == 1
    assert done.stderr.endswith("gradsan: GS302 needless-retain at train.py:15, seen on ranks 0-1\n")


def test_right_ranks_say_so_once(run: Run) -> None:
    """Not sixteen times."""
    run.write("train.py", TRAINS)

    done = torchrun(run, 2, GRADSAN="run")

    assert re.findall("^gradsan: .*", done.stderr, re.MULTILINE) == [
        "gradsan: nothing found (3 backward passes, 0 steps)"
    ]


def test_accelerate_launch(run: Run) -> None:
    """Its launcher is torchrun's, in the same process."""
    run.write(
        "train.py",
        "import torch\nfrom accelerate import Accelerator\n"
        "accelerator = Accelerator(cpu=True)\n"
        "model, state = accelerator.prepare(torch.nn.Linear(4, 4)), torch.zeros(1, 4)\n"
        "for _ in range(3):\n    state = model(state + 1)\n    accelerator.backward(state.sum())\n",
    )

    done = run("-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1",
               "--main_process_port", port(), "train.py",
               environment={"GRADSAN": "1"})  # fmt: skip

    assert done.stderr.count(EXPLAINED) == 1
    assert "gradsan: GS103 carried-state at train.py:7, seen on ranks 0-1\n" in done.stderr


SPAWNS = """\
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank):
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)
    model, state = torch.nn.Linear(4, 4), torch.zeros(1, 4)
    for _ in range(3):
        state = model(state + 1)
        state.sum().backward()


if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
"""


def test_spawned_ranks(run: Run) -> None:
    """`mp.spawn` raises the first error in the parent; the explanation is part of it."""
    run.write("train.py", SPAWNS)

    done = run("-m", "gradsan", "run", "train.py")

    assert done.stderr.count(EXPLAINED) == 1
    assert re.search(r"\ngradsan: GS103 carried-state at train.py:13, seen on ranks? [01]", done.stderr)


def test_lightning_with_two_processes(run: Run) -> None:
    """Its first process starts the second."""
    program = (PROJECT / "docs" / "frameworks" / "with_lightning.py").read_text(encoding="utf-8")
    run.write("train.py", program.replace('accelerator="cpu"', 'accelerator="cpu", devices=2, strategy="ddp"'))

    done = run("train.py")

    assert done.stderr.count("fix: detach `self.state` between the steps") == 1
    assert re.search(r"note: seen on rank [01] of 2", done.stderr)


def test_ray_workers_leave_reports_in_the_storage_of_the_run(run: Run) -> None:
    """They are merged there."""
    run.write("train.py", (PROJECT / "docs" / "distributed" / "with_ray.py").read_text(encoding="utf-8"))

    run("train.py", "storage")

    stored = run.folder / "storage" / "run" / "gradsan"
    assert sorted(each.name for each in stored.iterdir()) == ["rank-0.json", "rank-1.json"]
    merged = run("-m", "gradsan", "report", "storage/run/gradsan")
    assert merged.stdout.count(EXPLAINED) == 1
    assert "note: seen on ranks 0-1\n" in merged.stdout


def test_page_shows_what_is_printed(golden: Golden, tmp_path: Path) -> None:
    """Two hosts are two working directories, each with its own launcher and its own copy of the program."""
    text = PAGE.read_text(encoding="utf-8")

    def content(shown: re.Match[str]) -> str:
        source = shown["source"]
        said = (PROJECT / source).read_text() if source.endswith(".py") else _two_hosts(tmp_path)
        return f"<!-- from: {source} -->\n```{shown['language']}\n{said}```"

    golden.check(PAGE, SHOWN.sub(content, text))


def _two_hosts(folder: Path) -> str:
    """What `gradsan report reports` prints of four ranks on two of them, of which one has a problem."""
    master = port()
    hosts = []
    for number in range(2):
        place = folder / f"host-{number}"
        place.mkdir()
        shutil.copy(PROJECT / "docs" / "distributed" / "train.py", place)
        words = f"--nnodes 2 --node-rank {number} --nproc-per-node 2 --master-addr 127.0.0.1 --master-port {master}"
        variables = {"GRADSAN": "1", "GRADSAN_OUTPUT": str(folder / "reports" / place.name), "OMP_NUM_THREADS": "1"}
        hosts.append(
            subprocess.Popen(
                [sys.executable, "-m", "torch.distributed.run", *words.split(), "train.py", "2"],
                cwd=place,
                env=os.environ | variables,
                stderr=subprocess.DEVNULL,
            )
        )
    for each in hosts:
        each.wait(300)
    merged = subprocess.run(
        [sys.executable, "-m", "gradsan", "report", "reports"],
        cwd=folder,
        env=os.environ | {"COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=True,
    )
    return merged.stdout
