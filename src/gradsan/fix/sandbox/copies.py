"""A copy of the user's working directory, for where the system cannot keep writes away from it: never a link."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LEFT_OUT = frozenset(
    {"__pycache__", ".git", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".gradsan_cache"}
)
_ALL = 4_000_000_000  # bytes of one copy
_FILES = 100_000


@dataclass(frozen=True, slots=True)
class Listed:
    """What is copied of a directory, by its names in there, and what is too much."""

    files: tuple[Path, ...]
    folders: tuple[Path, ...]
    left_out: tuple[Path, ...]


def listed(root: Path, *, sources_only: bool = False) -> Listed:
    """All files, the small ones first where they are too many; what a link leads to is a file or folder as well."""
    files: list[tuple[int, Path]] = []
    folders: list[Path] = []
    for path, size in below(root):
        if size is None:
            folders.append(path)
        elif path.suffix == ".py" or not sources_only:
            files.append((size, path))
    kept: list[Path] = []
    left_out: list[Path] = []
    room = _ALL
    for number, (size, path) in enumerate(sorted(files)):
        room -= size
        (kept if room >= 0 and number < _FILES else left_out).append(path)
    return Listed(tuple(kept), tuple(folders), tuple(left_out))


def copy_project(root: Path, target: Path, changed: Mapping[str, bytes], *, sources_only: bool = False) -> None:
    """Fill a new directory with what is listed, and with the files that are changed."""
    target.mkdir()
    found = listed(root, sources_only=sources_only)
    for folder in found.folders:
        (target / folder).mkdir(exist_ok=True)
    for file in found.files:
        if file.as_posix() not in changed:
            with suppress(PermissionError, FileNotFoundError):  # a file that is not ours to read, or gone meanwhile
                shutil.copy2(root / file, target / file)
    for name, content in changed.items():
        (target / name).write_bytes(content)


def below(root: Path) -> Iterator[tuple[Path, int | None]]:
    """All that a project has, by its names in there: files with their sizes, and folders before what they hold.

    Environments of Python and caches are not part of it.
    """
    yield from _below(root, Path(), (root.resolve(),))


def _below(root: Path, folder: Path, above: tuple[Path, ...]) -> Iterator[tuple[Path, int | None]]:
    try:
        entries = sorted(os.scandir(root / folder), key=lambda each: each.name)
    except OSError:  # a folder that is not ours to read
        return
    if any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    for entry in entries:
        if entry.name in LEFT_OUT:
            continue
        below = folder / entry.name
        if entry.is_dir():
            real = Path(entry.path).resolve()
            if real not in above:  # a link that leads back
                yield below, None
                yield from _below(root, below, (*above, real))
        elif entry.is_file():
            yield below, entry.stat().st_size
