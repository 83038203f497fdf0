"""Source files: read, parsed once, and found by the names under which others import them."""

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

LARGEST = 4_000_000  # bytes; more than that is data in the clothes of a program


class UnreadableSourceError(Exception):
    """A file that cannot be read as Python, and why."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason, line)
        self.reason = reason
        self.line = line


@dataclass(slots=True, eq=False)
class Source:
    """A parsed file, or a notebook whose cells were joined."""

    path: str
    text: str
    tree: ast.Module
    lines: list[str] = field(default_factory=list)
    cells: tuple[tuple[int, int], ...] = ()  # (first line, number of the cell), in order


def decode(content: bytes) -> str:
    """The text, in the encoding that it declares."""
    if b"\0" in content:
        raise UnreadableSourceError("it contains null bytes")
    if len(content) > LARGEST:
        raise UnreadableSourceError(f"it is larger than {LARGEST // 1_000_000} MB")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return io.IncrementalNewlineDecoder(None, translate=True).decode(content.decode(encoding), final=True)
    except SyntaxError as error:
        raise UnreadableSourceError(str(error.msg)) from None
    except (UnicodeDecodeError, LookupError) as error:
        raise UnreadableSourceError(f"it is not in the encoding that it declares ({error})") from None


def parse(path: str, text: str) -> Source:
    """The parsed file; a clear reason where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the escapes and literals in other people's strings
            tree = ast.parse(text)
    except SyntaxError as error:
        raise UnreadableSourceError(f"syntax error: {error.msg}", error.lineno) from None
    except (RecursionError, MemoryError):
        raise UnreadableSourceError("it is nested too deeply") from None
    except ValueError as error:
        raise UnreadableSourceError(str(error)) from None
    return Source(path, text, tree, text.split("\n"))  # as Python counts lines: a form feed ends none


_instead: dict[str, bytes] = {}  # what files are read as, by their paths


@contextmanager
def reading_instead(changed: Mapping[str, bytes]) -> Iterator[None]:
    """Read files as if they said this: a program is followed with an edit that nobody has made."""
    before = dict(_instead)
    _instead.update(changed)
    try:
        yield
    finally:
        _instead.clear()
        _instead.update(before)


def load(path: str) -> Source | None:
    """The file at a path, for those that import it; None where it cannot be read."""
    if path in _instead:
        return _parsed(path, _instead[path])
    try:
        return _load(path, Path(path).stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=256)
def _load(path: str, _changed: int) -> Source | None:
    return _parsed(path, Path(path).read_bytes())


def _parsed(path: str, content: bytes) -> Source | None:
    try:
        return parse(path, decode(content))
    except UnreadableSourceError:
        return None


@lru_cache(maxsize=4096)
def locate_import(importer: str, module: str, level: int) -> str | None:
    """The file that an import means, where it stands beside or above the importing file; None for libraries."""
    folder = Path(importer).parent
    parts = tuple(module.split(".")) if module else ()
    if level:
        for _ in range(level - 1):
            folder = folder.parent
        return _file(folder, parts)
    for _ in range(6):
        found = _file(folder, parts)
        if found is not None:
            return found
        if folder.parent == folder or (folder / ".git").exists() or folder.name in ("site-packages", "dist-packages"):
            return None
        folder = folder.parent
    return None


def _file(folder: Path, parts: tuple[str, ...]) -> str | None:
    target = folder.joinpath(*parts)
    for candidate in (target.with_suffix(".py") if parts else None, target / "__init__.py"):
        if candidate is not None and candidate.is_file():
            return str(candidate)
    return None
