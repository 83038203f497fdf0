"""A file system like the user's, in which everything can be written and nothing of it reaches the user's disk.

Over every file system that is mounted lies an overlay, whose writes go to a folder of the trial. What the kernel shows
of itself and its devices stays as it is. What cannot be overlaid is read-only.
"""

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from gradsan.fix.trials.sandbox.kernel import MOVE, bind, mount, unmount

# Windows into the kernel and its devices: not files of anybody.
_OF_THE_KERNEL = frozenset(
    {
        *("autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs"),
        *("fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "ramfs", "rpc_pipefs", "securityfs"),
        *("selinuxfs", "sysfs", "tracefs"),
    }
)
_DEVICES, _SHARED_MEMORY, _PROCESSES = "/dev", "/dev/shm", "/proc"  # noqa: S108 # as the kernel names them
_SMALL = 16_000_000  # bytes of a file that is copied where its folder cannot be overlaid


class Layers:
    """Builds the file system at `folder/root`; `folder` is the trial's own."""

    def __init__(self, folder: Path, *, of_user: bool) -> None:
        self.root = folder / "root"
        self._folder = folder
        self._options = ",userxattr" if of_user else ""
        self._mounted = {_DEVICES: "devtmpfs", **dict(_mounted())}
        self._number = 0
        self._writes = folder / "writes"

    def build(self, mount_processes: Callable[[str], None]) -> None:
        """All of it. `mount_processes` puts the processes that can be seen there at a path."""
        self.root.mkdir()
        self._writes.mkdir()
        self._find_place_for_writes()
        self._cover("/")
        passed: list[str] = [_PROCESSES]
        mount_processes(self._inside(_PROCESSES))
        for path, kind in sorted(self._mounted.items()):
            if path == "/" or any(path == each or path.startswith(f"{each}/") for each in passed):
                continue
            if kind in _OF_THE_KERNEL or path == _DEVICES:
                passed.append(path)
                with suppress(PermissionError, FileNotFoundError):  # what the user cannot see need not be there
                    bind(path, self._inside(path))
            else:
                with suppress(PermissionError, FileNotFoundError):
                    self._cover(path)
        self._share_memory()
        self._keep_sockets()

    def write(self, path: str, content: bytes) -> None:
        """Let a file say something else; the user's stays as it is."""
        try:
            Path(self._inside(path)).write_bytes(content)
        except OSError:  # on a disk that cannot be overlaid
            self._number += 1
            other = self._writes / f"changed-{self._number}"
            other.write_bytes(content)
            bind(str(other), self._inside(path))

    def show(self, path: Path) -> None:
        """Have a folder of the user's disk there as it is, to be written."""
        bind(str(path), self._inside(str(path)))

    def enter(self) -> None:
        """Make it the file system of this process and of all that it starts."""
        os.chdir(self.root)
        mount(".", "/", flags=MOVE)
        os.chroot(".")
        os.chdir("/")

    def _find_place_for_writes(self) -> None:
        """The disk of the trial's folder; memory where that is an overlay itself, as in a container."""
        empty = self._folder / "empty"
        empty.mkdir()
        try:
            self._overlay(str(empty), self.root)
        except OSError:
            mount("tmpfs", str(self._writes), "tmpfs", options="mode=0755")
            self._overlay(str(empty), self.root)
        unmount(str(self.root))

    def _cover(self, path: str) -> None:
        """Lay an overlay over a mounted file system, or over its parts where something locked is mounted on it."""
        if not os.path.isdir(path):  # noqa: PTH112 # strings, here and below: of the kernel's table
            bind(path, self._inside(path), read_only=True)
            return
        try:
            self._overlay(path)
        except OSError:
            if self._is_mounted_below(path):
                self._take_apart(path)
            elif path == "/":
                raise
            else:
                bind(path, self._inside(path), read_only=True)

    def _overlay(self, path: str, target: Path | None = None) -> None:
        self._number += 1
        upper, work = (self._writes / f"{name}-{self._number}" for name in ("files", "work"))
        upper.mkdir()
        work.mkdir()
        status = os.stat(path)  # noqa: PTH116
        upper.chmod(stat.S_IMODE(status.st_mode))
        with suppress(OSError):  # a user has only files of their own
            os.chown(upper, status.st_uid, status.st_gid)
        options = f"lowerdir={_quoted(path)},upperdir={_quoted(str(upper))},workdir={_quoted(str(work))}{self._options}"
        mount("overlay", str(target or self._inside(path)), "overlay", options=options)

    def _take_apart(self, path: str) -> None:
        """Its folders one by one, in a folder of our own; its files are copies, or read-only if they are large."""
        target = self._inside(path)
        mount("tmpfs", target, "tmpfs", options="mode=0755")
        for entry in os.scandir(path):
            below = os.path.join(target, entry.name)  # noqa: PTH118
            with suppress(PermissionError, FileNotFoundError):
                if entry.is_symlink():
                    os.symlink(os.readlink(entry.path), below)  # noqa: PTH115, PTH211
                elif entry.is_dir():
                    os.mkdir(below)  # noqa: PTH102
                    if entry.path not in self._mounted:
                        self._cover(entry.path)
                else:
                    self._take_over(entry, below)

    def _take_over(self, entry: "os.DirEntry[str]", target: str) -> None:
        is_small = entry.is_file() and entry.stat().st_size <= _SMALL
        if is_small and entry.path not in self._mounted:
            shutil.copy2(entry.path, target)
        else:
            Path(target).touch()
            bind(entry.path, target, read_only=True)

    def _share_memory(self) -> None:
        """Memory that the program's processes share stays memory."""
        if not os.path.isdir(_SHARED_MEMORY):  # noqa: PTH112
            return
        memory = self._folder / "memory"
        memory.mkdir()
        mount("tmpfs", str(memory), "tmpfs", options="mode=0755")
        on_disk, self._writes = self._writes, memory
        try:
            self._overlay(_SHARED_MEMORY)
        except OSError:
            mount("tmpfs", self._inside(_SHARED_MEMORY), "tmpfs", options="mode=1777")
        finally:
            self._writes = on_disk

    def _keep_sockets(self) -> None:
        """A socket answers at its own inode only, not at what an overlay shows of it."""
        for line in Path("/proc/net/unix").read_text(encoding="utf-8", errors="surrogateescape").splitlines()[1:]:
            path = line.partition(" /")[2]
            with suppress(OSError):
                if path and stat.S_ISSOCK(os.stat(f"/{path}").st_mode):  # noqa: PTH116
                    bind(f"/{path}", self._inside(f"/{path}"))

    def _inside(self, path: str) -> str:
        return f"{self.root}{path}"

    def _is_mounted_below(self, path: str) -> bool:
        return any(each.startswith(f"{path.rstrip('/')}/") for each in self._mounted)


def _mounted() -> Iterator[tuple[str, str]]:
    """The places where something is mounted, and its kind."""
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        first, _, second = line.partition(" - ")
        yield _unescaped(first.split(" ")[4]), second.split(" ")[0]


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def _quoted(path: str) -> str:
    """As the options of an overlay want it."""
    return re.sub(r"([\\:,])", r"\\\1", path)
