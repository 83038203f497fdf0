"""A copy of the user's working directory, for where the system cannot keep writes away from it: never a link."""

import os
import shutil
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LEFT_OUT = frozenset({"__pycache__", ".git", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"})
_ALL = 4_000_000_000  # bytes of one copy
_FILES = 100_000


@dataclass(frozen=True, slots=True)
class Listed:
    """What is copied of a directory, by its names in there, and what is too much."""

    files: tuple[Path, ...]
    folders: tuple[Path, ...]
    left_out: tuple[Path, ...]


def listed(root: Path) -> Listed:
    """All files, the small ones first where they are too many; what a link leads to is a file or folder as well."""
    files: list[tuple[int, Path]] = []
    folders: list[Path] = []
    for path, size in below(root):
        if size is None:
            folders.append(path)
        else:
            files.append((size, path))
    kept: list[Path] = []
    left_out: list[Path] = []
    room = _ALL
    for number, (size, path) in enumerate(sorted(files)):
        room -= size
        (kept if room >= 0 and number < _FILES else left_out).append(path)
    return Listed(tuple(kept), tuple(folders), tuple(left_out))


def copy_project(root: Path, target: Path, changed: Mapping[str, bytes]) -> None:
    """Fill a new directory with what is listed, and with the files that are changed."""
    target.mkdir()
    found = listed(root)
    for folder in found.folders:
        (target / folder).mkdir()
    for file in found.files:
        if file.as_posix() not in changed:
            with suppress(PermissionError, FileNotFoundError):  # a file that is not ours to read, or gone meanwhile
                shutil.copy2(root / file, target / file)
    for name, content in changed.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)


def below(root: Path) -> Iterator[tuple[Path, int | None]]:
    """All that a project has, by its names in there: files with their sizes, and folders before what they hold.

    What is less deep comes first, as source does. Environments of Python and caches are not part of it.
    """
    waiting: deque[tuple[Path, tuple[Path, ...]]] = deque([(Path(), (root.resolve(),))])
    while waiting:
        folder, above = waiting.popleft()
        for entry in _entries(root / folder):
            inner = folder / entry.name
            if entry.is_dir():
                real = Path(entry.path).resolve()
                if real not in above:  # a link that leads back
                    yield inner, None
                    waiting.append((inner, (*above, real)))
            else:
                yield inner, _size(entry)


def _entries(folder: Path) -> "list[os.DirEntry[str]]":
    try:
        entries = sorted(os.scandir(folder), key=lambda each: each.name)
        found = [each for each in entries if each.name not in LEFT_OUT and (each.is_dir() or each.is_file())]
    except OSError:  # a folder that is not ours to read
        return []
    return [] if any(each.name == "pyvenv.cfg" for each in found) else found


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat().st_size
    except OSError:  # gone meanwhile
        return 0
