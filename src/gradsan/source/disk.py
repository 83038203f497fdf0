"""Files where they lie: each read once, as it is or as an edit would have it, and found by what others import."""

import ast
import linecache
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from gradsan.source.bounded import content_of, digest_of
from gradsan.source.file import Source, UnreadableSourceError, parse, parses, tree_of

NOTEBOOK = ".ipynb"
_first_read: dict[str, str] = {}  # digests, by real paths
_instead: dict[str, bytes] = {}  # what files are read as, by their paths
_running: dict[str, Source] = {}  # notebooks that this process runs, by real paths


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


def note_as_running(path: str, source: Source) -> None:
    """A notebook is about to run: tracebacks, and whoever reads it from here on, see the cells that ran."""
    _running[os.path.realpath(path)] = source
    linecache.cache[path] = (len(source.text), None, list(source.lines), path)


def notebook_at(path: str) -> Source | None:
    """The cells of a notebook; None: it is another file."""
    return load(path) if path.endswith(NOTEBOOK) else None


def cell_at(path: str, line: int) -> tuple[int | None, int]:
    """The cell that a line lies in, and the line at which its lines begin to count; None: it is of no notebook."""
    source = notebook_at(path)
    return (None, 1) if source is None else source.cell_of(line)


def load(path: str) -> Source | None:
    """The file at a path; None where it cannot be read as Python."""
    if path in _instead:
        return parsed(path, _instead[path])
    if _running and (running := _running.get(os.path.realpath(path))) is not None:
        return running
    state = state_of(path)
    try:
        return None if state is None else _load(path, state)
    except OSError:
        return None


def state_of(path: str) -> tuple[int, int] | None:
    """What changes with what a file says; None: nobody can tell, or it is read as if it said something else."""
    if path in _instead:
        return None
    try:
        found = os.stat(path)  # noqa: PTH116 # half the time of a Path
    except (OSError, ValueError):  # a name with a null byte
        return None
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=256)
def _load(path: str, _state: tuple[int, int]) -> Source | None:
    content = content_of(path)
    _first_read.setdefault(os.path.realpath(path), digest_of(content))
    return parsed(path, content)


def said_by(path: str) -> bytes:
    """The bytes of a file, as it is or as an edit would have it."""
    return _instead[path] if path in _instead else content_of(path)


def first_read(path: str) -> str | None:
    """A digest of what a file said when this process first read it; None: it never did."""
    return _first_read.get(os.path.realpath(path))


def what_was_read() -> dict[str, str]:
    """The digests of all files that this process, or one that it asked, has read."""
    return dict(_first_read)


def note_as_read(digests: Mapping[str, str]) -> None:
    """What another process has read for this one; what was read first stays."""
    for path, digest in digests.items():
        _first_read.setdefault(path, digest)


def forget_what_was_read() -> None:
    """A command begins: what files say from now on is what its edits are made of."""
    _first_read.clear()
    _load.cache_clear()


def parsed(path: str, content: bytes) -> Source | None:
    """What a file would say; None where that is no Python."""
    try:
        return read(path, content)
    except UnreadableSourceError:
        return None


def read(path: str, content: bytes) -> Source:
    """What a file or a notebook says; a clear reason where it is no Python."""
    if not path.endswith(NOTEBOOK):
        return parse(path, content)
    from gradsan.source.notebooks import parse_notebook

    return parse_notebook(path, content)


@lru_cache(maxsize=64)
def tree_as_run(file: str) -> ast.Module | None:
    """The tree of a file or cell as Python ran it: what its own tracebacks show. None where that cannot be read."""
    text = "".join(linecache.getlines(file))
    return tree_of(text) if parses(text) else None


@lru_cache(maxsize=4096)
def locate_import(importer: str, module: str, level: int) -> str | None:
    """The file that an import means, where it stands beside or above the importing file; None for libraries."""
    folder = Path(importer).parent
    parts = tuple(module.split(".")) if module else ()
    if level:
        above = (folder, *folder.parents)
        return _file(above[level - 1], parts) if level <= len(above) else None
    for _ in range(6):
        found = _file(folder, parts)
        if found is not None:
            return found
        if folder.parent == folder or _is_top(folder):
            return None
        folder = folder.parent
    return None


@lru_cache(maxsize=1024)
def _is_top(folder: Path) -> bool:
    """Whether nothing above a folder belongs to the same project."""
    return (folder / ".git").exists() or folder.name in ("site-packages", "dist-packages")


def _file(folder: Path, parts: tuple[str, ...]) -> str | None:
    if not all(part.isidentifier() for part in parts):  # `import ...` in a docstring that somebody took for source
        return None
    target = str(folder.joinpath(*parts))
    candidates = (*((f"{target}.py",) if parts else ()), str(Path(target, "__init__.py")))
    return next((each for each in candidates if os.path.isfile(each)), None)  # noqa: PTH113 # half the time of a Path
