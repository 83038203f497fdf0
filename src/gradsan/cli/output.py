"""Where a command's own text goes."""

import sys
from pathlib import Path
from typing import TextIO

from gradsan.entry.screen import encodable
from gradsan.errors import GradsanError
from gradsan.show.harmless import neutral

_SOURCES = (".py", ".ipynb")


class UnwritableOutputError(GradsanError):
    """The file given with `--output` cannot be written."""


def say(stream: TextIO, sentence: str) -> None:
    """A remark that is no part of the answer; it may name what others have written."""
    stream.write(encodable(f"gradsan: {neutral(sentence, lines=True)}\n", stream))


def write(text: str, path: Path | None) -> None:
    """Write to the file, or to stdout; a letter that the terminal does not have is no reason to fail."""
    if path is None:
        sys.stdout.write(encodable(text, sys.stdout))
        return
    if path.suffix in _SOURCES and path.is_file() and path.stat().st_size:
        raise UnwritableOutputError(
            f"{str(path)!r} is a program, and is not overwritten", "give another file with --output"
        )
    from gradsan.source.writing import put

    try:
        put(path, text)
    except OSError as error:
        raise UnwritableOutputError(
            f"cannot write {str(path)!r} ({error.strerror})", "give another file with --output"
        ) from None
