"""Files that are the old or the new one, whatever happens: also on a full disk, or when the process is killed."""

import contextlib
import os
import signal
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from gradsan.errors import ChangedFileError, GradsanError

_ENDING = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}


class UnwritableFileError(GradsanError):
    """A file that was to be written cannot be."""


def write(changes: Mapping[Path, tuple[bytes | None, bytes]]) -> None:
    """Write all of them, each of which must still say the first and is to say the second; None: it must not exist.

    First all new contents are on the disk, without a name; then all files are compared; then each is replaced in one
    step. A link stays, and what it leads to is written. What asks the process to end is heard when this is done.
    """
    with _undisturbed(), contextlib.ExitStack() as waiting:
        written: list[str] = []
        try:
            ready = [waiting.enter_context(_new(path.resolve(), new)) for path, (_, new) in changes.items()]
            for path, (old, _) in changes.items():
                if _present(path) != old:
                    raise ChangedFileError(f"{str(path)!r} was changed meanwhile", "nothing was written; try again")
            for each in ready:
                each.take_its_place()
                written.append(each.path.name)
        except OSError as error:
            done = f"; written before it: {', '.join(written)}" if written else ""
            raise UnwritableFileError(f"cannot write ({error}){done}", "make that possible, and try again") from None


def put(path: Path, text: str) -> None:
    """Write a file that was named for it, whatever it says now; to a device or a pipe, it is handed over.

    A link to a file elsewhere is refused: it may have come with a tree, and lead anywhere.
    """
    if path.is_symlink() and path.is_file() and path.resolve().parent != path.parent.resolve():
        raise UnwritableFileError(f"{str(path)!r} is a link to a file elsewhere", "name that one, if it is meant")
    is_plain = path.is_file() or not path.exists()
    if is_plain and os.access(path.resolve().parent, os.W_OK):
        write({path: (_present(path), text.encode())})
    else:
        path.write_text(text, encoding="utf-8")


def _present(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


class _New:
    """New content of a file, safely on its disk, which nobody sees yet."""

    def __init__(self, path: Path, handle: int, name: str | None) -> None:
        self.path = path
        self._handle = handle
        self._name = name  # where it has one

    def take_its_place(self) -> None:
        """The file has the new content from here on."""
        if self._name is None:
            name = f".{self.path.name}.{os.urandom(4).hex()}.gradsan"
            with _opened(self.path.parent, os.O_RDONLY) as folder:
                os.link(f"/proc/self/fd/{self._handle}", name, dst_dir_fd=folder)
            self._name = str(self.path.parent / name)
        os.replace(self._name, self.path)  # noqa: PTH105 # names, as `tempfile` gives them
        self._name = None

    def forget(self) -> None:
        """Leave nothing where it has not come to its place."""
        if self._name is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._name)  # noqa: PTH108


@contextlib.contextmanager
def _new(path: Path, content: bytes) -> Iterator[_New]:
    status = path.stat() if path.exists() else None
    if status is not None and not (status.st_mode & 0o222 and os.access(path, os.W_OK)):
        raise UnwritableFileError(f"{str(path)!r} is read-only", "make it writable, and try again")
    handle, name = _unnamed(path)
    new = _New(path, handle, name)
    try:
        with open(handle, "wb", closefd=False) as file:  # a handle
            file.write(content)
        if hasattr(os, "fchmod"):
            _set_owner_and_mode(handle, status)
        os.fsync(handle)
    except OSError as error:
        os.close(handle)
        new.forget()
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        yield new
    finally:
        os.close(handle)
        new.forget()


def _set_owner_and_mode(handle: int, status: os.stat_result | None) -> None:
    """Those of the file before it; of a new one, those that the user has asked the system for."""
    if status is None:
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(handle, 0o666 & ~mask)
        return
    with contextlib.suppress(OSError):  # somebody else's file, which this user may write
        os.fchown(handle, status.st_uid, status.st_gid)
    os.fchmod(handle, stat.S_IMODE(status.st_mode))


def _unnamed(path: Path) -> tuple[int, str | None]:
    """A file beside that one, without a name where the system has such: nothing is left of it, even by a kill."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):  # noqa: PTH112
        with contextlib.suppress(OSError):  # a file system that has none
            return os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o600), None
    import tempfile

    return tempfile.mkstemp(prefix=f".{path.name}.", suffix=".gradsan", dir=path.parent)


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    handle = os.open(path, flags)
    try:
        yield handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals that end the process wait until the block is over; it takes milliseconds."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
