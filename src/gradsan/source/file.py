"""A file of the user's as it is on disk: its text to the last byte, and how to write it back the same way."""

import ast
import io
import tokenize
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_LARGEST = 1_000_000  # bytes; nobody wrote more than that by hand


@dataclass(frozen=True)
class Source:
    """What a file says, and in which encoding."""

    path: Path
    content: bytes
    encoding: str

    @cached_property
    def text(self) -> str:
        """With the line ends that the file has."""
        return self.content.decode(self.encoding)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Each with its line end; line n is at n - 1."""
        return split_lines(self.text)

    @cached_property
    def tree(self) -> ast.Module:
        """The abstract syntax tree, for questions about the whole file."""
        return ast.parse(self.content)


def split_lines(text: str) -> tuple[str, ...]:
    """The lines as Python counts them, each with its end; `str.splitlines` knows line ends that Python does not."""
    return tuple(io.StringIO(text, newline=""))


def read(path: Path) -> Source | None:
    """The file, or None where it cannot be read as Python."""
    try:
        return parse(path, path.read_bytes()) if path.stat().st_size <= _LARGEST else None
    except OSError:
        return None


def parse(path: Path, content: bytes) -> Source | None:
    """What a file would say; None where that is no Python."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        source = Source(path, content, encoding)
        parses = source.tree is not None and source.text is not None
    except (SyntaxError, ValueError, RecursionError):
        return None
    return source if parses else None
