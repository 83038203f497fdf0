"""What `gradsan run` says of a program that ends well."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
import torch

model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.ones(5, 8, 3):
    loss = model(batch).square().mean()
    opt.zero_grad()
    loss.backward(retain_graph=True){comment}
    opt.step()
print("done")
"""


def run(folder: Path, *options: str, comment: str = "", retains: bool = True) -> subprocess.CompletedProcess[str]:
    """The program, under gradsan."""
    program = PROGRAM.format(comment=comment)
    (folder / "train.py").write_text(program if retains else program.replace("retain_graph=True", ""))
    command = [sys.executable, "-m", "gradsan", "run", *options, "train.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_finding_fails_a_run_that_is_to_fail_on_warnings(tmp_path: Path) -> None:
    """The program's own output is as it was, on its own stream."""
    done = run(tmp_path, "--fail-on", "warning")

    assert done.returncode == 1
    assert done.stdout == "done\n"
    assert done.stderr.startswith("GS302 needless-retain: `retain_graph=True` keeps the graph of `loss` 5 times")
    assert "gradsan: 1 warning: GS302 (5 backward passes, 5 steps)" in done.stderr


def test_report_has_the_numbers_of_the_run(tmp_path: Path) -> None:
    """And a warning is no error."""
    done = run(tmp_path, "--fail-on", "error", "--format", "json", "--output", "report.json")
    report = json.loads((tmp_path / "report.json").read_text())

    assert done.returncode == 0
    assert (report["summary"]["passes"], report["summary"]["steps"]) == (5, 5)
    assert report["summary"]["retained_bytes"] > 0
    assert [each["code"] for each in report["diagnoses"]] == ["GS302"]


@pytest.mark.parametrize(
    ("options", "comment"),
    [((), "  # gradsan: ignore[GS302] a debugger walks it"), (("--ignore", "GS3"), "")],
    ids=["comment", "option"],
)
def test_finding_that_nobody_wants_is_not_reported(tmp_path: Path, options: tuple[str, ...], comment: str) -> None:
    """One line says that there is nothing."""
    done = run(tmp_path, "--fail-on", "warning", *options, comment=comment)

    assert done.returncode == 0
    assert done.stderr.startswith("gradsan: nothing found (5 backward passes, 5 steps)")
    assert done.stderr.count("\n") == 1


def test_quiet_run_without_findings_says_nothing(tmp_path: Path) -> None:
    """Not even the one line."""
    assert run(tmp_path, "-q", retains=False).stderr == ""


def test_interrupted_training_still_dies_of_its_interrupt(tmp_path: Path) -> None:
    """What is loaded to tell of a run must not let CPython forget how the program ended."""
    (tmp_path / "train.py").write_text(PROGRAM.format(comment="") + "raise KeyboardInterrupt\n")
    command = [sys.executable, "-m", "gradsan", "run", "train.py"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == -signal.SIGINT


@pytest.mark.parametrize("ending", ["", "\n"], ids=["within a line", "at its end"])
def test_summary_begins_a_line_of_its_own(tmp_path: Path, ending: str) -> None:
    """A progress display that ended within its line is not run on, and no empty line is left behind another."""
    (tmp_path / "train.py").write_text(
        PROGRAM.format(comment="").replace("retain_graph=True", "")
        + f"import sys\nsys.stdout.flush()\nprint('\\repoch 5/5', end={ending!r}, file=sys.stderr, flush=True)\n"
    )
    command = [sys.executable, "-m", "gradsan", "run", "train.py"]

    with (tmp_path / "log").open("w") as log:
        subprocess.run(command, cwd=tmp_path, stdout=log, stderr=log, check=True)

    last = (tmp_path / "log").read_bytes().rpartition(b"\repoch 5/5")[2]
    assert last.startswith(b"\ngradsan: nothing found (5 backward passes")
