"""What every command does alike: it starts fast, and says in one sentence what it cannot do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Workshop

# Runs a command as `gradsan` does and says which of these were imported.
IMPORTED = """
import atexit, sys
from gradsan.cli import main
sys.argv = ["gradsan", *sys.argv[1:]]
heavy = {"torch", "msgspec", "rich", "pygments", "asyncio"}
atexit.register(lambda: print(heavy & set(sys.modules)))
main()
"""

NOTHING = "set()"


@pytest.mark.parametrize(
    ("command", "imported"),
    [
        ("", NOTHING),
        ("--help", NOTHING),
        ("--version", NOTHING),
        ("check", "{'msgspec'}"),  # which writes down what was found
        ("run empty.py", NOTHING),
        ("explain", "{'rich'}"),
        ("explain GS103", "{'rich'}"),
        ("explain GS9", None),
    ],
)
@pytest.mark.cold  # what is loaded is what this is about
def test_command_imports_only_what_it_needs(command: str, imported: str | None, workshop: Workshop) -> None:
    """`gradsan explain` and `gradsan check` work, and start fast, where torch is not installed."""
    workshop.write("empty.py", "")

    last = workshop.start("-c", IMPORTED, *command.split()).stdout.splitlines()[-1]

    assert "torch" not in last
    assert last == imported or imported is None


def test_command_without_arguments_lists_the_commands(workshop: Workshop) -> None:
    """In the order in which they are met."""
    ended = workshop.gradsan("--help")

    listed = [line.split()[0] for line in ended.stdout.partition("Commands:\n")[2].splitlines()]
    assert listed == ["run", "check", "fix", "explain", "report", "attach", "server", "mcp", "completion", "version"]
    assert ended.status == 0


def test_version_is_reported(workshop: Workshop) -> None:
    """One line, of the installed package."""
    ended = workshop.gradsan("--version")

    assert ended.stdout.startswith("gradsan ")
    assert (ended.status, len(ended.stdout.splitlines())) == (0, 1)


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("rule GS103", "did you mean `gradsan explain GS103`?"),
        ("show a.json", "did you mean `gradsan explain a.json`?"),
        ("chek src", "did you mean `gradsan check src`?"),
        ("train.py", "`gradsan run train.py` runs a program"),
        ("nonsense", "`gradsan --help` lists the commands"),
        ("check --fixx", "did you mean '--fix'?"),
        ("run missing.ipynb", "cannot read the program"),
    ],
)
def test_what_people_type_gets_a_hint(command: str, hint: str, workshop: Workshop) -> None:
    """One sentence: what is wrong, and what to type."""
    ended = workshop.gradsan(*command.split())

    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr.startswith("gradsan: ")
    assert hint in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_help_and_version_are_commands_too(workshop: Workshop) -> None:
    """As with git and ruff."""
    assert workshop.gradsan("help", "check").stdout == workshop.gradsan("check", "--help").stdout
    assert workshop.gradsan("help").stdout == workshop.gradsan("--help").stdout
    assert workshop.gradsan("version").stdout == workshop.gradsan("--version").stdout


@pytest.mark.parametrize("command", ["nonsense", "run", "run --nonsense a.py", "explain --color sometimes"])
def test_bad_usage_is_reported_with_status_2(command: str, workshop: Workshop) -> None:
    """On stderr, with the way to the help page, and without a traceback."""
    ended = workshop.gradsan(*command.split())

    assert (ended.status, ended.stdout) == (2, "")
    assert "--help" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("script", ["missing.py", "missing/", "program.py/", "-"])
def test_script_that_cannot_be_read_is_reported_with_status_2(script: str, workshop: Workshop) -> None:
    """One sentence that names the file as it was given."""
    workshop.write("program.py", "")

    ended = workshop.gradsan("run", script)

    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"gradsan: cannot read the program '{script}'")


def test_run_without_torch_names_the_line_that_installs_it(workshop: Workshop) -> None:
    """And runs nothing of the program."""
    workshop.write("program.py", "print('ran')")
    without_torch = "import sys; sys.modules['torch'] = None; from gradsan.cli import main; main()"

    ended = workshop.start("-c", without_torch, "run", "program.py")

    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr == "gradsan: torch is not installed for this Python; install it with `pip install torch`\n"


@pytest.mark.parametrize("command", ["--help", "explain", "explain GS103"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_reader_that_leaves_early_is_no_error(command: str, unbuffered: str, workshop: Workshop) -> None:
    """`gradsan explain | head` ends quietly."""
    reading, writing = os.pipe()
    os.close(reading)

    with os.fdopen(writing, "w") as pipe:
        ended = subprocess.run(
            [sys.executable, "-m", "gradsan", *command.split()],
            cwd=workshop.folder,
            stdout=pipe,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            check=False,
        )

    assert (ended.returncode, ended.stderr) == (1, b"")


def test_interrupted_command_dies_of_the_signal(workshop: Workshop) -> None:
    """So that a shell script that called it stops too; no traceback is shown."""
    interrupted = """
import os, signal
import gradsan.causes
from gradsan.cli import main
gradsan.causes.cause = lambda code: os.kill(os.getpid(), signal.SIGINT)
main()
"""
    ended = workshop.start("-c", interrupted, "explain", "GS103")

    assert (ended.status, ended.stdout, ended.stderr.strip()) == (-2, "", "")


def test_output_goes_to_a_file(workshop: Workshop) -> None:
    """The same text, with no colour, and nothing on stdout."""
    shown = workshop.gradsan("explain", "GS103").stdout

    ended = workshop.gradsan("explain", "GS103", "--output", "page.txt")

    assert (ended.status, ended.stdout, ended.stderr) == (0, "", "")
    assert (workshop.folder / "page.txt").read_text(encoding="utf-8") == shown


def test_output_that_cannot_be_written_is_reported_with_status_2(workshop: Workshop, tmp_path: Path) -> None:
    """With the reason."""
    missing = tmp_path / "missing" / "page.txt"

    ended = workshop.gradsan("explain", "GS103", "--output", str(missing))

    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"gradsan: cannot write '{missing}' (No such file or directory)")
