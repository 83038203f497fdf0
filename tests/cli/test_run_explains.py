"""`gradsan run` explains: on the exception, in a report, and as much as it was asked to."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Workshop

CARRIED = """
import torch

class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(2, 2)
        self.state = torch.zeros(1, 2)

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.state.sum()

model = Memory()
for step in range(3):
    loss = model(torch.ones(1, 2))
    print("step", step, flush=True)
    loss.backward()
"""

TWICE = """
import sys, threading, torch

def twice():
    loss = torch.ones(2, requires_grad=True).square().sum()
    loss.backward()
    loss.backward()

def shared():
    part = torch.ones(2, requires_grad=True).square()
    part.sum().backward()
    (part * part).sum().backward()
"""

CATCHES = (
    TWICE
    + """
try:
    twice()
except RuntimeError as error:
    print(error.__notes__[0].split()[0])
try:
    shared()
except RuntimeError:
    sys.exit(3)
"""
)

THREADED = (
    TWICE
    + """
import os
thread = threading.Thread(target=twice)
thread.start()
os.chdir("/")
"""
)


def codes(file: Path) -> list[str]:
    """The codes of a report."""
    return [each["code"] for each in json.loads(file.read_text(encoding="utf-8"))["diagnoses"]]


def test_explanation_is_all_that_is_added_to_what_python_prints(workshop: Workshop) -> None:
    """The program's output and status are its own; the note stands under the traceback, and nothing after it."""
    workshop.write("program.py", CARRIED)

    plain, explained = workshop.start("program.py"), workshop.gradsan("run", "program.py")

    assert (explained.status, explained.stdout) == (plain.status, plain.stdout) == (1, "step 0\nstep 1\n")
    assert explained.stderr.startswith(plain.stderr)
    note = explained.stderr.removeprefix(plain.stderr)
    assert note.startswith("\nGS103 carried-state: ")
    assert "program.py:11" in note
    assert "program.py:18" in note
    assert "gradsan:" not in explained.stderr


def test_module_is_explained_like_a_script(workshop: Workshop) -> None:
    """Lines of its packages too."""
    workshop.write("package/__init__.py", "")
    workshop.write("package/memory.py", CARRIED.partition("model =")[0])
    workshop.write("package/train.py", "from package.memory import *\nmodel =" + CARRIED.partition("model =")[2])

    ended = workshop.gradsan("run", "-m", "package.train")

    assert "package/memory.py:11" in ended.stderr
    assert "package/train.py:6" in ended.stderr


def test_caught_error_is_no_finding_unless_it_is_asked_for(workshop: Workshop) -> None:
    """It carries its note all the same. `except: sys.exit(3)` has caught nothing."""
    workshop.write("program.py", CATCHES)

    ended = workshop.gradsan("run", "--format", "json", "--output", "report.json", "program.py", RANK="1")
    asked = workshop.gradsan("run", "-v", "--format", "json", "--output", "all.json", "program.py")

    assert (ended.status, ended.stdout, ended.stderr) == (3, "GS101\n", "")
    assert codes(workshop.folder / "report.json") == ["GS102"]
    assert codes(workshop.folder / "all.json") == ["GS102", "GS101"]
    assert (asked.status, asked.stderr) == (3, "")
    report = json.loads((workshop.folder / "report.json").read_text(encoding="utf-8"))
    assert (report["argv"], report["rank"], report["schema"]) == (["program.py"], 1, 1)
    assert report["torch"] is not None


def test_report_is_complete_when_the_last_thread_has_ended(workshop: Workshop) -> None:
    """Written where it was asked for, wherever the program went meanwhile; as text too."""
    workshop.write("program.py", THREADED)

    ended = workshop.gradsan("run", "--output", "report.txt", "program.py")

    assert ended.status == 0
    assert "GS101" in ended.stderr
    report = (workshop.folder / "report.txt").read_text(encoding="utf-8")
    assert report.startswith("GS101 same-loss-twice: ")
    assert report.endswith("gradsan: 1 error: GS101\n")


def test_ignored_code_gets_no_note(workshop: Workshop) -> None:
    """Nor does one that is not selected; with -v, caught errors are told on stderr."""
    workshop.write(
        "program.py", CATCHES.replace("print(error.__notes__[0].split()[0])", "print(hasattr(error, '__notes__'))")
    )

    ended = workshop.gradsan("run", "-v", "--select", "GS1", "--ignore", "same-loss-twice,GS3", "program.py")

    assert (ended.status, ended.stdout, ended.stderr) == (3, "False\n", "")


def test_fork_writes_no_report_of_its_own(workshop: Workshop) -> None:
    """The child of a program that forks ends like its parent, and leaves the parent's report alone."""
    workshop.write(
        "program.py",
        TWICE
        + """
import os
child = os.fork()
if child == 0:
    twice()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
shared()
""",
    )

    ended = workshop.gradsan("run", "--format", "json", "--output", "report.json", "program.py")

    assert (ended.status, ended.stdout) == (1, "1\n")
    assert "GS101" in ended.stderr
    assert codes(workshop.folder / "report.json") == ["GS102"]


def test_program_without_torch_in_it_has_an_empty_report(workshop: Workshop) -> None:
    """And torch is not imported to find that out."""
    workshop.write("program.py", "import sys; print('torch' in sys.modules, 'rich' in sys.modules)")

    ended = workshop.gradsan("run", "--format", "json", "--output", "report.json", "program.py", "--output", "x")

    assert (ended.status, ended.stdout, ended.stderr) == (0, "False False\n", "")
    report = json.loads((workshop.folder / "report.json").read_text(encoding="utf-8"))
    assert (report["torch"], report["diagnoses"], report["argv"]) == (None, [], ["program.py", "--output", "x"])


def test_json_without_a_file_goes_to_stderr(workshop: Workshop) -> None:
    """Stdout is the program's."""
    workshop.write("program.py", "print('x')")

    ended = workshop.gradsan("run", "--format", "json", "program.py")

    assert ended.stdout == "x\n"
    assert json.loads(ended.stderr)["diagnoses"] == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--format pdf", "invalid value for '--format'"),
        ("--format html", "an HTML page cannot be printed here"),
        ("--select GS103,GS9", "there is no code 'GS9'"),
        ("--ignore nonsense", "there is no code 'nonsense'"),
        ("--output missing/report.json", "cannot write 'missing/report.json' (No such file or directory)"),
        ("--format sarif --output .", "'.' is a folder, for JSON reports alone"),
    ],
)
def test_what_cannot_be_done_is_said_before_the_program_runs(options: str, sentence: str, workshop: Workshop) -> None:
    """In one sentence, with status 2."""
    workshop.write("program.py", "print('ran')")

    ended = workshop.gradsan("run", *options.split(), "program.py")

    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"gradsan: {sentence}")
    assert len(ended.stderr.splitlines()) == 1


def test_report_that_cannot_be_written_in_the_end_leaves_the_status_alone(workshop: Workshop) -> None:
    """The program may have removed the folder."""
    workshop.write("program.py", "import shutil; shutil.rmtree('made')")
    (workshop.folder / "made").mkdir()

    ended = workshop.gradsan("run", "--output", "made/report.txt", "program.py")

    assert ended.status == 0
    assert ended.stderr.startswith("gradsan: the report is not written: cannot write ")


def test_report_follows_its_schema(workshop: Workshop) -> None:
    """The one that ships with the package."""
    jsonschema = pytest.importorskip("jsonschema")
    from gradsan.show.json import schema

    workshop.write("program.py", CARRIED)
    subprocess.run(
        [sys.executable, "-m", "gradsan", "run", "--format", "json", "-o", "report.json", "program.py"],
        cwd=workshop.folder,
        capture_output=True,
        check=False,
    )

    jsonschema.validate(json.loads((workshop.folder / "report.json").read_text(encoding="utf-8")), schema())
