"""The real command, started as users start it, beside plain `python`."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

# Settings of whoever runs the tests that change what a child prints, or when.
UNWANTED = {"PYTHONUNBUFFERED", "PYTHONWARNINGS", "NO_COLOR", "FORCE_COLOR", "COLUMNS"}
# A second run that finds compiled files would not warn of the same things.
WANTED = {"PYTHONDONTWRITEBYTECODE": "1"}

# What pip writes as the `gradsan` command.
CONSOLE_SCRIPT = """\
import sys
from gradsan.cli import main
if __name__ == "__main__":
    sys.exit(main())
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """All that a process leaves behind."""

    status: int  # negative: the signal that killed it
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Workshop:
    """A folder of programs, and the ways to start them."""

    folder: Path
    console_script: Path

    def write(self, name: str, source: str | bytes) -> Path:
        """A file of the program."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(source if isinstance(source, bytes) else source.encode())
        return file

    def write_zip(self, name: str, **modules: str) -> None:
        """A zip file of modules."""
        with zipfile.ZipFile(self.folder / name, "w") as archive:
            for module, source in modules.items():
                archive.writestr(f"{module}.py", source)

    def start(
        self, *command: str, stdin: str = "", environment: Mapping[str, str] | None = None, merged: bool = False
    ) -> Ended:
        """Run this interpreter with these arguments to its end."""
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.folder,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
            env={name: text for name, text in os.environ.items() if name not in UNWANTED}
            | WANTED
            | dict(environment or {}),
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        return Ended(done.returncode, _without_addresses(done.stdout), _without_addresses(done.stderr or ""))

    def gradsan(self, *arguments: str, **settings: str) -> Ended:
        """`gradsan arguments`, with variables of the environment."""
        return self.start("-m", "gradsan", *arguments, environment=settings)

    def every_start(
        self, *program: str, flags: Sequence[str] = (), stdin: str = "", merged: bool = False
    ) -> list[Ended]:
        """How `python program` ended, then how the same ended under `python -m gradsan run` and `gradsan run`."""
        ways: list[tuple[str, ...]] = [(), ("-m", "gradsan", "run"), (str(self.console_script), "run")]
        return [self.start(*flags, *way, *program, stdin=stdin, merged=merged) for way in ways]


def _without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x…", text)


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """An empty folder to write programs into, apart from where the command itself lies."""
    shop = Workshop(folder=tmp_path / "programs", console_script=tmp_path / "bin" / "gradsan")
    shop.folder.mkdir()
    shop.console_script.parent.mkdir()
    shop.console_script.write_text(CONSOLE_SCRIPT, encoding="utf-8")
    return shop
