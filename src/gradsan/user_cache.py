"""What is kept from one command to the next: in the user's own cache, never in the tree that is read.

Nobody who sends a project can send answers along, nor links through which others' files would be written.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

_MOST = 50  # files of one kind that are kept
T = TypeVar("T")


def kept(kind: str, name: str, form: type[T]) -> T | None:
    """What was kept under that name; None where there is nothing that can be trusted."""
    try:
        folder = _folder(kind)
        if not is_ours(folder):
            return None
        handle = os.open(folder / f"{name}.json", os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(handle, "rb") as file:
            content = file.read()
    except OSError:
        return None
    import msgspec

    try:
        return msgspec.json.decode(content, type=form)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def keep(kind: str, name: str, content: object) -> None:
    """Keep it under that name; where that is not possible, it is worked out again another time."""
    import tempfile

    import msgspec

    with suppress(OSError, ValueError):  # a name of a file that is no text
        encoded = msgspec.json.encode(content)
        folder = _folder(kind)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_ours(folder):
            return
        handle, unfinished = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(encoded)
            Path(unfinished).replace(folder / f"{name}.json")
        finally:
            Path(unfinished).unlink(missing_ok=True)
        for old in sorted(folder.iterdir(), key=lambda each: -each.lstat().st_mtime)[_MOST:]:
            old.unlink()


def _folder(kind: str) -> Path:
    """In the user's cache; an error of the system's where there is none."""
    own, usual = ("LOCALAPPDATA", "~/AppData/Local") if sys.platform == "win32" else ("XDG_CACHE_HOME", "~/.cache")
    home = Path(os.environ.get(own) or os.path.expanduser(usual))  # noqa: PTH111 # which raises where there is no home
    if not home.is_absolute():
        raise FileNotFoundError(home)
    return home / "gradsan" / kind


def is_ours(folder: Path) -> bool:
    """A folder, not a link to one, that this user owns."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_owner = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return folder.is_dir() and not folder.is_symlink() and is_owner
