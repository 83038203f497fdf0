"""Where a command's own text goes, how wide it may be, and whether it may be coloured."""

import shutil
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path
from typing import Literal, TextIO

from gradsan.errors import GradsanError
from gradsan.show.harmless import neutral

ColorChoice = Literal["auto", "always", "never"]

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "html")
COLOR_CHOICES = ("auto", "always", "never")

_SOURCES = (".py", ".ipynb")
_WIDEST = 100  # columns; longer lines of prose are hard to read


class UnwritableOutputError(GradsanError):
    """The file given with `--output` cannot be written."""


def say(stream: TextIO, sentence: str) -> None:
    """A remark that is no part of the answer; it may name what others have written."""
    stream.write(f"gradsan: {neutral(sentence, lines=True)}\n")


def wants_color(choice: ColorChoice, *, terminal: bool, environment: Mapping[str, str]) -> bool:
    """Whether to colour: what was asked for, else https://no-color.org and https://force-color.org, else a terminal."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM") != "dumb"


def width() -> int:
    """How many columns the reader has; 80 where nobody knows, so that files come out the same everywhere."""
    return min(shutil.get_terminal_size(fallback=(80, 24)).columns, _WIDEST)


def write(text: str, path: Path | None) -> None:
    """Write to the file, or to stdout; a letter that the terminal does not have is no reason to fail."""
    if path is None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")
        sys.stdout.write(text)
        return
    if path.suffix in _SOURCES and path.is_file() and path.stat().st_size:
        raise UnwritableOutputError(f"{str(path)!r} holds a program", "give another file with --output")
    from gradsan.source.writing import put

    try:
        put(path, text)
    except OSError as error:
        raise UnwritableOutputError(
            f"cannot write {str(path)!r} ({error.strerror})", "give another file with --output"
        ) from None
