"""Notes what a process writes outside of the copy that it runs in: there, nothing keeps it from the user's files."""

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

_MOST = 200  # files that are named
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ALSO = frozenset(
    {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink", "shutil.rmtree"}
)


def note_writes(copy: Path, notes: Path) -> None:
    """From here on, until the process ends; what a library opens by itself, past Python, is not seen."""
    inside = tuple(
        f"{os.path.realpath(each)}{os.sep}" for each in (copy, notes, tempfile.gettempdir(), "/dev", "/proc")
    )
    seen: set[str] = set()
    file = notes / f"outside-{os.getpid()}.txt"
    is_noting = False

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal is_noting
        if is_noting or len(seen) >= _MOST or not _is_write(event, args):
            return
        is_noting = True
        with suppress(Exception):  # the program goes on
            path = os.path.realpath(os.fsdecode(args[0]))
            if path not in seen and not f"{path}{os.sep}".startswith(inside):
                seen.add(path)
                with file.open("a", encoding="utf-8", errors="surrogateescape") as noted:
                    noted.write(f"{path}\n")
        is_noting = False

    sys.addaudithook(hook)


def _is_write(event: str, args: tuple[Any, ...]) -> bool:
    if event == "open":
        return isinstance(args[0], str | bytes) and isinstance(args[2], int) and bool(args[2] & _WRITES)
    return event in _ALSO
