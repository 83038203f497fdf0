"""A working directory like the user's, with some files changed: those are copies, everything else is linked."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

_LEFT_OUT = {"__pycache__", ".git", ".mypy_cache", ".pytest_cache", ".ruff_cache"}


def lay_out(scratch: Path, root: Path, changed: Mapping[str, bytes], also: str | None = None) -> None:
    """Fill an empty directory. Keys are relative to `root`; `also` is a file that is run, changed or not.

    Python looks for imports beside the script itself, not beside a link to it: so Python files of the folders in which
    something is changed or run are hard links. Data is never copied.
    """
    if outside := [file for file in changed if Path(file).is_absolute() or ".." in Path(file).parts]:
        raise ValueError(f"{outside[0]!r} does not lie in the working directory")
    opened = {Path()}
    for file in (*changed, *([also] if also is not None else [])):
        opened |= set(Path(file).parents)
    for folder in sorted(opened, key=lambda each: len(each.parts)):
        (scratch / folder).mkdir(exist_ok=True)
        for entry in os.scandir(root / folder):
            relative = folder / entry.name
            if entry.name in _LEFT_OUT or relative in opened or relative.as_posix() in changed:
                continue
            if entry.name.endswith(".py") and entry.is_file():
                _hard_link(Path(entry.path).resolve(), scratch / relative)
            else:
                (scratch / relative).symlink_to(Path(entry.path).absolute())
    for file, content in changed.items():
        (scratch / file).write_bytes(content)


def _hard_link(path: Path, link: Path) -> None:
    try:
        os.link(path, link)
    except OSError:  # another disk, or a file system without links
        shutil.copyfile(path, link)
