"""Files of others, read with limits: a link to an endless device, a pipe or a huge file holds nobody up."""

import errno
import os
import stat
from pathlib import Path

MOST = 64_000_000  # bytes; notebooks have pictures in them
# Without these, opening a pipe would wait for whoever writes to it.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def content_of(path: str | os.PathLike[str], most: int = MOST) -> bytes:
    """All bytes of a plain file; an `OSError` where it is none, or has more of them."""
    try:
        handle = os.open(path, _FLAGS)
    except ValueError:  # a null byte in the name
        raise OSError(errno.EINVAL, "it has a name that no file can have") from None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        content = file.read(most + 1) or b""  # None: a file of the system's that has nothing to say now
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most // 1_000_000} MB")
    return content


def inside(folder: Path, name: str) -> Path | None:
    """Where a file lies that somebody has named, links followed; None where that is not in the folder, or nowhere."""
    try:
        path = (folder / name).resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a null byte
        return None
    return path if path.is_relative_to(folder.resolve()) else None


def digest_of(content: bytes) -> str:
    """A name for what a file says."""
    import hashlib

    return hashlib.blake2b(content, digest_size=16).hexdigest()
