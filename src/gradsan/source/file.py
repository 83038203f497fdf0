"""A file of Python: its text to the last character, its lines, its tree, and how to write it back the same way.

Nothing else parses. Trees are shared by all who read the same text, and nobody changes them.
"""

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

LARGEST = 4_000_000  # bytes; more than that is data in the clothes of a program
_IGNORED = ("ignore", None, Warning, None, 0)


class UnreadableSourceError(Exception):
    """A file that cannot be read as Python, and why."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason, line)
        self.reason = reason
        self.line = line


@dataclass(frozen=True, eq=False)
class Source:
    """A file that can be parsed, or a notebook whose cells were joined."""

    path: str
    text: str  # with the line ends that it has
    encoding: str = "utf-8"
    cells: tuple[tuple[int, int], ...] = ()  # (first line, number of the cell), in order
    typed: Mapping[int, str] = field(default_factory=dict)  # lines of cells that are no Python, as they were typed

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Each with its line end; line n is at n - 1."""
        return split_lines(self.text)

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; the same for all who read this text."""
        return tree_of(self.text)

    def line_in(self, cell: int | None, line: int) -> int:
        """The number that a line has among all: of a cell, lines are counted from its first."""
        first = next((first for first, number in self.cells if number == cell), 1)
        return first - 1 + line

    def cell_of(self, line: int) -> tuple[int | None, int]:
        """The cell of a notebook that a line lies in, and the line at which its lines begin to count."""
        return next(((number, first) for first, number in reversed(self.cells) if first <= line), (None, 1))

    def written_in(self, cell: int) -> list[str]:
        """The lines of a cell as their author knows them."""
        at = next(at for at, (_, number) in enumerate(self.cells) if number == cell)
        end = self.cells[at + 1][0] - 2 if at + 1 < len(self.cells) else len(self.lines)
        return [self.as_written(line).rstrip("\r\n") for line in range(self.cells[at][0], end + 1)]

    def as_written(self, line: int) -> str:
        """A line as its author knows it: of a notebook, with the magic that stands there."""
        return self.typed.get(line, self.lines[line - 1] if 0 < line <= len(self.lines) else "")

    @cached_property
    def content(self) -> bytes:
        """The bytes of the file."""
        return self.text.encode(self.encoding)


def split_lines(text: str) -> tuple[str, ...]:
    """The lines as Python counts them, each with its end; `str.splitlines` knows line ends that Python does not."""
    return tuple(io.StringIO(text, newline=""))


def parse(path: str, content: bytes) -> Source:
    """What a file says; a clear reason where it is no Python."""
    if b"\0" in content:
        raise UnreadableSourceError("it contains null bytes")
    if len(content) > LARGEST:
        raise UnreadableSourceError(f"it is larger than {LARGEST // 1_000_000} MB")
    return parse_text(path, *_decoded(content))


def _decoded(content: bytes) -> tuple[str, str]:
    """The text of a file, and the encoding that it declares."""
    encoding = encoding_of(content)
    try:
        return content.decode(encoding), encoding
    except (ValueError, LookupError) as error:  # codecs that are no text encodings raise what they like
        raise UnreadableSourceError(f"it is not in the encoding that it declares ({error})") from None


def encoding_of(content: bytes) -> str:
    """The encoding that a file declares."""
    try:
        return tokenize.detect_encoding(io.BytesIO(content).readline)[0]
    except (SyntaxError, ValueError) as error:
        raise UnreadableSourceError(str(error)) from None
    except LookupError as error:  # from 3.14 on: a codec that is no text encoding
        raise UnreadableSourceError(f"it is not in the encoding that it declares ({error})") from None


def parse_text(
    path: str,
    text: str,
    encoding: str = "utf-8",
    cells: tuple[tuple[int, int], ...] = (),
    typed: Mapping[int, str] | None = None,
) -> Source:
    """The same, of a text."""
    try:
        tree_of(text)
    except SyntaxError as error:
        raise UnreadableSourceError(f"syntax error: {error.msg}", error.lineno) from None
    except (RecursionError, MemoryError):
        raise UnreadableSourceError("it is nested too deeply") from None
    except ValueError as error:
        raise UnreadableSourceError(str(error)) from None
    return Source(path, text, encoding, cells, typed or {})


@lru_cache(maxsize=128)
def tree_of(text: str) -> ast.Module:
    """The tree of a text; raises what `ast.parse` raises."""
    with _quiet():
        return ast.parse(text)


def parses(text: str) -> bool:
    """Whether a text is Python."""
    try:
        tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def is_python(content: bytes) -> bool:
    """Whether Python reads a file; in half the time of a tree, which nobody asks for here.

    Also False for a few files that can be parsed, and make no program: who wants to know why reads them again.
    """
    import symtable

    try:
        with _quiet():
            symtable.symtable(_decoded(content)[0], "<read>", "exec")
    except (UnreadableSourceError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def compiles(text: str, flags: int = 0) -> bool:
    """Whether a text is a program: `return` outside of a function parses, and is none."""
    try:
        with _quiet():
            compile(text, "<edited>", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def same_code(text: str, other: str) -> bool:
    """Whether two texts differ in nothing but comments and spaces."""
    return parses(other) and ast.dump(tree_of(text)) == ast.dump(tree_of(other))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings about the escapes and literals in other people's strings.

    `warnings.catch_warnings` would make the interpreter forget which warnings of the program it has shown already.
    """
    warnings.filters.insert(0, _IGNORED)  # type: ignore[attr-defined] # a list, whatever its stub says
    try:
        yield
    finally:
        with suppress(ValueError):  # somebody has put other filters in place meanwhile
            warnings.filters.remove(_IGNORED)  # type: ignore[attr-defined]


@lru_cache(maxsize=1024)
def expression(code: str) -> ast.expr | None:
    """The expression that a text is; None where it is none."""
    try:
        with _quiet():
            return ast.parse(f"({code}\n)", mode="eval").body  # over several lines, as an argument may be
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
