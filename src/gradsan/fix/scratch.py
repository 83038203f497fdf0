"""A working directory like the user's, with some files changed: those are copies, everything else is linked."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

_LEFT_OUT = {"__pycache__", ".git", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".gradsan_cache"}
_FOLDERS = 3_000  # that are looked into
_ENTRIES = 20_000  # of one folder; nobody keeps that many files of source in one


class Layout:
    """The folders of a working directory that hold source, looked up once.

    Python and programs look for imports and files beside the file itself, not beside a link to it: so folders with
    source are folders again, and Python files in them are hard links. Any other folder is a link: data is not copied.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._left = _FOLDERS
        self.folders = {Path()} | self._with_source(Path())

    def lay_out(self, scratch: Path, changed: Mapping[str, bytes]) -> None:
        """Fill an empty directory. Keys are relative to the working directory."""
        if outside := [file for file in changed if Path(file).is_absolute() or ".." in Path(file).parts]:
            raise ValueError(f"{outside[0]!r} does not lie in the working directory")
        opened = self.folders.union(*(Path(file).parents for file in changed))
        for folder in sorted(opened, key=lambda each: len(each.parts)):
            (scratch / folder).mkdir(exist_ok=True)
            for entry in os.scandir(self.root / folder):
                relative = folder / entry.name
                if entry.name in _LEFT_OUT or relative in opened or relative.as_posix() in changed:
                    continue
                if entry.name.endswith(".py") and entry.is_file():
                    _hard_link(Path(entry.path).resolve(), scratch / relative)
                else:
                    (scratch / relative).symlink_to(Path(entry.path).absolute())
        for file, content in changed.items():
            (scratch / file).write_bytes(content)

    def _with_source(self, folder: Path) -> set[Path]:
        """The folders below one that hold Python files, at any depth."""
        found: set[Path] = set()
        for name, is_source in self._entries(folder):
            below = folder / name
            if is_source:
                found.add(folder)
            elif self._left > 0:
                self._left -= 1
                inner = self._with_source(below)
                found |= inner | ({folder} if inner else set())
        return found

    def _entries(self, folder: Path) -> list[tuple[str, bool]]:
        """Files of source and folders to be looked into, of one folder; none where it is an environment, or data."""
        found = []
        try:
            with os.scandir(self.root / folder) as entries:
                for number, entry in enumerate(entries):
                    if entry.name == "pyvenv.cfg" or number > _ENTRIES:
                        return []
                    if entry.name.endswith(".py") and entry.is_file():
                        found.append((entry.name, True))
                    elif entry.is_dir(follow_symlinks=False) and entry.name not in _LEFT_OUT:
                        found += [(entry.name, False)] if not entry.name.startswith(".") else []
        except OSError:  # a folder that is not ours to read
            return []
        return found


def _hard_link(path: Path, link: Path) -> None:
    try:
        os.link(path, link)
    except OSError:  # another disk, or a file system without links
        shutil.copyfile(path, link)
