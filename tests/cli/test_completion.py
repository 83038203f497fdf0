"""Completion inside the shells themselves: bash always; zsh and fish where they are installed."""

import os
import pty
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Workshop

PATIENCE = 30.0  # seconds without a word from a shell, until it is taken to have no more to say

# What is typed, and what the shell then offers or completes.
TYPED = {
    "gradsan che": ["check"],
    "gradsan check --exten": ["--extend-select"],
    "gradsan explain GS10": ["GS101", "GS103", "GS109"],
    "gradsan check --select GS301,GS10": ["GS301,GS101", "GS301,GS109"],
    "gradsan completion f": ["fish"],
}
FILES = {  # whose names are the shell's own business
    "gradsan run trai": "train.py",
    "gradsan run train.py dat": "data.csv",
    "gradsan check trai": "train.py",
    "gradsan explain dat": "data.csv",
}


class Shell:
    """A shell that has read gradsan's script, in a folder with files."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.environment = {
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_DATA_HOME": str(folder / "data"),
            "TERM": "dumb",
        }

    def offered(self, line: str, expected: list[str]) -> str:
        """What the shell shows when a line is to be completed; `expected` ends the wait for more."""
        if self.name == "bash":
            return self._bash(line)
        return self._fish(line) if self.name == "fish" else self._zsh(line, expected)

    def _bash(self, line: str) -> str:
        """As readline calls the function, and what it does where the function leaves files to it."""
        return self._started(
            "bash",
            "--norc",
            "-c",
            'eval "$(gradsan completion bash)"\n'
            'compopt() { COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")); }\n'
            f"COMP_WORDS=({line}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))\n"
            '_gradsan_completion gradsan; printf "%s\\n" "${COMPREPLY[@]}"',
        )

    def _fish(self, line: str) -> str:
        return self._started("fish", "--no-config", "-c", f"gradsan completion fish | source; complete -C '{line}'")

    def _started(self, *command: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def _zsh(self, line: str, expected: list[str]) -> str:
        """At a terminal: it completes nowhere else."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], self.environment)  # noqa: S606, S607 # the shell that is asked about
        try:
            set_up = "autoload -Uz compinit && compinit -u; eval \"$(gradsan completion zsh)\"; echo rea''dy\n"
            os.write(terminal, set_up.encode())
            _read(terminal, ["ready\r\n"])
            os.write(terminal, f"{line}\t\t".encode())
            return _read(terminal, _shown(line, expected))
        finally:
            os.close(terminal)
            os.waitpid(process, 0)


def _shown(line: str, expected: list[str]) -> list[str]:
    """A list of names, or the rest of the only one."""
    return expected if len(expected) > 1 else [expected[0].removeprefix(line.rsplit(" ", 1)[1])]


def _read(terminal: int, expected: list[str]) -> str:
    """What comes, until all that is expected has come, or nothing comes any more."""
    shown = ""
    for piece in _pieces(terminal):
        shown += piece
        if all(each in shown for each in expected):
            break
    return shown


def _pieces(terminal: int) -> Iterator[str]:
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            yield os.read(terminal, 65536).decode(errors="replace")
        except OSError:  # the shell has ended
            return


@pytest.fixture(params=["bash", "zsh", "fish"])
def shell(request: pytest.FixtureRequest, workshop: Workshop) -> Shell:
    """Each shell that is there."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed here; its package has the same name")
    workshop.write("train.py", "")
    workshop.write("data.csv", "")
    command = workshop.write("bin/gradsan", f'#!/bin/sh\nexec "{sys.executable}" -m gradsan "$@"\n')
    command.chmod(0o755)
    return Shell(request.param, workshop.folder)


def test_shell_completes_commands_options_and_codes(shell: Shell) -> None:
    """Also the last of a list of codes."""
    for line, expected in TYPED.items():
        offered = shell.offered(line, expected)
        assert [each for each in _shown(line, expected) if each not in offered] == [], (line, offered)


def test_shell_completes_files(shell: Shell) -> None:
    """Where a program, a report or a folder is to be named, and all that follows the program."""
    for line, expected in FILES.items():
        assert _shown(line, [expected])[0] in shell.offered(line, [expected]), line


def test_options_of_the_program_are_not_completed(workshop: Workshop) -> None:
    """Behind the program, everything is the program's own."""
    offered = workshop.gradsan(
        _GRADSAN_COMPLETE="bash_complete", COMP_WORDS="gradsan run train.py --", COMP_CWORD="3"
    ).stdout

    assert offered == "file,--\n"
