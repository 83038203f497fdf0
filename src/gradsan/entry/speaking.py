"""Says something on stderr when the program is done talking, on a line of its own and over nothing that it wrote."""

import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from gradsan.entry.screen import encodable, screen_of

if TYPE_CHECKING:
    from gradsan.report import Diagnosis

_BARS = "tqdm.std"  # the module of the usual progress bars


def speak(text: str) -> None:
    """Write a text; nothing where there is no stderr, as in a program without a console."""
    stream = sys.stderr
    if not text or stream is None:
        return
    with suppress(Exception):  # what the program printed stands before what is said about it
        sys.stdout.flush()
    stream.write(_to_a_new_line(stream) + encodable(text, stream))


def explained(diagnosis: "Diagnosis") -> str:
    """An explanation for the screen behind stderr."""
    from gradsan.show.text import explanation

    screen = screen_of(sys.stderr)
    return explanation(diagnosis, width=screen.width, color=screen.color) + "\n"


def _to_a_new_line(stream: TextIO) -> str:
    """What brings the cursor to the beginning of a line, if a progress display has left it within one."""
    try:
        if stream.isatty():
            return "" if os.environ.get("TERM", "dumb") == "dumb" else _across(shutil.get_terminal_size().columns)
        return "\n" if _has_open_bars() or _ends_within_a_line(stream.fileno()) else ""
    except (OSError, ValueError, AttributeError):  # a stream of the program's own making
        return ""


def _across(columns: int) -> str:
    """A line of blanks, and back to its beginning.

    At the beginning of a line they fill just that; behind a text they run over into the next one. Either way nothing
    is overwritten, and no empty line is left. (Shells keep their prompt apart from unfinished output in this way.)
    """
    return " " * columns + "\r"


def _has_open_bars() -> bool:
    bars: Any = getattr(sys.modules.get(_BARS), "tqdm", None)
    return bool(len(getattr(bars, "_instances", ())))


def _ends_within_a_line(descriptor: int) -> bool:
    """Whether a file's last character is no line end; of a pipe nobody knows."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or not status.st_size:
        return False
    with Path(f"/dev/fd/{descriptor}").open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
