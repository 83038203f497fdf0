"""`gradsan run` and `gradsan fix` where a program has its own plans, and in the formats that the help names."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.conftest import Workshop
from gradsan.causes import cause

TWICE = "import torch\nw = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()\n"
CAUGHT = TWICE + "try:\n    loss.backward()\nexcept RuntimeError:\n    pass\n"
LEAK = cause("GS301").example.program
SHARED = cause("GS102").example.program
CARRIED = cause("GS103").example.program
GIT = shutil.which("git") or "git"


NOTED = CAUGHT.replace("except RuntimeError:\n    pass", "except RuntimeError as error:\n    print(error.__notes__[0])")


def test_note_on_an_exception_is_plain_and_narrow(workshop: Workshop) -> None:
    """Logs, boxes and pytest put something before each line; whoever reads 80 columns still has whole lines."""
    workshop.write("a_long_name_of_a_training_script.py", NOTED)

    ended = workshop.gradsan("run", "a_long_name_of_a_training_script.py", FORCE_COLOR="1", COLUMNS="120")

    assert "details: gradsan explain GS101" in ended.stdout
    assert "\x1b" not in ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 68


@pytest.mark.parametrize(("color", "is_colored"), [("always", True), ("never", False)])
def test_note_that_python_prints_fits_the_terminal(workshop: Workshop, color: str, *, is_colored: bool) -> None:
    """As wide as it is, and in its colours; a hook of the program's own gets the plain one."""
    workshop.write("train.py", SHARED)
    workshop.write("hook.py", "import sys\nsys.excepthook = lambda *e: print(e[1].__notes__[0])\n" + SHARED)

    ended = workshop.gradsan("run", "--color", color, "train.py", COLUMNS="120")
    hooked = workshop.gradsan("run", "--color", color, "hook.py", COLUMNS="120")

    assert ("\x1b[1;31mGS102" in ended.stderr) is is_colored
    assert "features" in ended.stderr
    assert "\x1b" not in hooked.stdout


def test_error_that_the_program_caught_is_named_at_the_end(workshop: Workshop) -> None:
    """It is not "nothing found"; whoever wants to read about it asks with -v."""
    workshop.write("train.py", CAUGHT)

    ended = workshop.gradsan("run", "train.py")
    explained = workshop.gradsan("run", "-v", "train.py")

    assert ended.stderr == "gradsan: errors that the program caught: GS101; `gradsan run -v` explains them\n"
    assert "nothing found" not in explained.stderr
    assert "details: gradsan explain GS101" in explained.stderr
    assert "path: " in explained.stderr


KEPT = """
import torch

net = torch.nn.Linear(3, 1)
for turn in range({times}):
    hidden = net(torch.ones(4, 3)).tanh()
    first, second = hidden.pow(2).mean(), hidden.abs().mean()
    first.backward(retain_graph=True)
    {then}
    second.backward()
"""


@pytest.mark.parametrize(
    ("times", "then", "found"),
    [(1, "undefined", []), (2, "if turn: undefined\n    continue", ["GS302"]), (1, "raise SystemExit", ["GS302"])],
)
def test_graph_was_not_kept_for_nothing_where_an_error_came_first(
    workshop: Workshop, times: int, then: str, found: list[str]
) -> None:
    """Of the iteration that failed nobody knows what was to come; those before it, and a program that ends, say it."""
    workshop.write("train.py", KEPT.format(times=times, then=then))

    workshop.gradsan("run", "--format", "json", "--output", "found.json", "train.py")

    report = json.loads((workshop.folder / "found.json").read_text(encoding="utf-8"))
    assert [each["code"] for each in report["diagnoses"]] == found


@pytest.mark.parametrize("options", [(), ("--ignore", "GS101")])
@pytest.mark.parametrize("last", ["loss.backward()\n", "raise ValueError\n"], ids=["ours", "theirs"])
def test_nothing_found_never_stands_below_a_traceback(workshop: Workshop, options: tuple[str, ...], last: str) -> None:
    """Whether or not the error is one that gradsan explains."""
    workshop.write("train.py", TWICE + last)

    ended = workshop.gradsan("run", *options, "train.py")

    assert ended.stderr.startswith("Traceback")
    assert "nothing found" not in ended.stderr


@pytest.mark.parametrize("form", ["text", "concise", "json", "sarif", "github", "gitlab"])
def test_every_format_of_the_help_works(workshop: Workshop, form: str) -> None:
    """On stderr, apart from what the program prints, or in a file."""
    workshop.write("train.py", LEAK)

    ended = workshop.gradsan("run", "--format", form, "train.py")
    workshop.gradsan("run", "--format", form, "--output", "report", "train.py")

    assert ended.status == 0
    assert "GS301" in ended.stderr
    assert "GS301" in (workshop.folder / "report").read_text()
    if form in ("json", "sarif", "gitlab"):
        json.loads(ended.stderr)


@pytest.mark.parametrize(("mode", "reports"), [("1", False), ("run", True)])
def test_variable_explains_errors_or_reports_silent_problems_too(
    workshop: Workshop, mode: str, *, reports: bool
) -> None:
    """`GRADSAN=1` and `GRADSAN=run`."""
    workshop.write("leak.py", LEAK)
    workshop.write("shared.py", SHARED)

    leak = workshop.start("leak.py", environment={"GRADSAN": mode})
    shared = workshop.start("shared.py", environment={"GRADSAN": mode})

    assert ("gradsan: 1 warning: GS301" in leak.stderr) is reports
    assert shared.stderr.endswith("details: gradsan explain GS102\n")


def test_fixes_are_a_patch_that_git_takes(workshop: Workshop) -> None:
    """With what is said about each of them before it."""
    workshop.write("a.py", CARRIED)
    workshop.write("b.py", SHARED)
    subprocess.run([GIT, "init", "-q", "."], cwd=workshop.folder, check=True)

    ended = workshop.gradsan("fix", ".")
    subprocess.run([GIT, "apply"], cwd=workshop.folder, input=ended.stdout, text=True, check=True)

    assert (workshop.folder / "a.py").read_text() == cause("GS103").example.fixed
    assert (workshop.folder / "b.py").read_text() == cause("GS102").example.fixed


def test_question_that_nobody_answers_is_an_error(workshop: Workshop) -> None:
    """Nothing is written."""
    workshop.write("a.py", CARRIED)

    ended = workshop.gradsan("fix", "--ask", "a.py")

    assert ended.status == 2
    assert "gradsan: the input ended before this question was answered, so nothing was written" in ended.stderr
    assert (workshop.folder / "a.py").read_text() == CARRIED


def test_file_that_may_not_be_written_is_refused_with_that_reason(workshop: Workshop, tmp_path: Path) -> None:
    """Read-only, or outside of the working directory."""
    workshop.write("a.py", CARRIED).chmod(0o444)
    other = tmp_path / "elsewhere.py"
    other.write_text(CARRIED)

    locked = workshop.gradsan("fix", "--write", "a.py")
    outside = workshop.gradsan("fix", "--write", str(other))

    assert (locked.status, (workshop.folder / "a.py").read_text()) == (2, CARRIED)
    assert "is read-only; make it writable" in locked.stderr
    assert other.read_text() == CARRIED
    assert outside.status == 1
    assert "lies outside the working directory" in " ".join(outside.stdout.split())


@pytest.mark.parametrize("command", [("check", "--no-cache"), ("run",)], ids=lambda each: each[0])
def test_edit_is_shown_wherever_the_file_lies(workshop: Workshop, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Only what writes is held to the working directory."""
    other = tmp_path / "elsewhere.py"
    other.write_text(CARRIED)

    done = workshop.gradsan(*command, str(other))

    assert ".detach()" in done.stdout + done.stderr
    assert other.read_text() == CARRIED
