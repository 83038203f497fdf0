"""What the processes that one launcher has started leave for one another: who explains what, and their reports.

They lie in a folder of temporary files that is named after the launcher, so that nothing has to be agreed on. Nobody
waits, and nobody is waited for: whoever is the first to explain a problem leaves a link that only one can create, and a
rank that finds it refers to the other. Where no folder can be had, every rank explains by itself.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gradsan.entry.ranks import RANKS, this_rank
from gradsan.user_cache import is_ours

OUTPUT = "GRADSAN_OUTPUT"  # the variable that names a folder for the reports of all processes

_OLD = 24 * 3600  # seconds, after which nobody asks for what was left
_ATTEMPTS = 2  # to be the first, where what is there is of an earlier run
_SHOWN = ".shown"


class Siblings:
    """The processes that the launcher of this one started, or that this one starts."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._is_launched = is_launched()
        self._unconfirmed: list[Path] = []

    @property
    def are_told(self) -> bool:
        """Whether anybody may ask for the report of this process."""
        return this_rank() is not None or self.have_parent or bool(os.environ.get(OUTPUT))

    def explained_by(self, problem: str) -> int | None:
        """The rank that has begun to explain it already; None: this process is to, or trains alone."""
        rank = this_rank()
        folder = self._folder()
        if rank is None or not _prepared(folder):
            return None
        # Runs that have the same launcher, as two in one Ray cluster, have ports of their own.
        link = folder / f"{os.environ.get('MASTER_PORT', '')}-{problem}"
        for _ in range(_ATTEMPTS):
            try:
                link.symlink_to(str(rank.number))
            except FileExistsError:
                other = _named_by(link)
                if other is not None:
                    return None if other == rank.number else other
            except OSError:  # a system without links
                return None
            else:
                self._unconfirmed.append(link)
                return None
        return None

    def confirm(self) -> None:
        """What this process was to explain stands on its screen."""
        for link in self._unconfirmed:
            with suppress(OSError):
                link.with_name(link.name + _SHOWN).touch()
        self._unconfirmed.clear()

    def leave(self, report: str) -> None:
        """Leave a report where the launcher looks, and where one is wanted of every process."""
        from gradsan.source.writing import put

        rank = this_rank()
        name = f"process-{os.getpid()}.json" if rank is None else f"rank-{rank.number}.json"
        if (rank is not None or self.have_parent) and _prepared(self._folder()):
            put(self._folder() / name, report)
        wanted = os.environ.get(OUTPUT)
        if wanted:
            Path(wanted).mkdir(parents=True, exist_ok=True)
            put(Path(wanted) / name, report)

    def _folder(self) -> Path:
        return _folder_of(os.getppid() if self.have_parent else os.getpid())

    @property
    def have_parent(self) -> bool:
        """Whether another process that gradsan may know started this one."""
        return self._is_launched or os.getpid() != self._process  # a fork


class Launched:
    """The processes that this one has started, when they are over."""

    def __init__(self) -> None:
        self._folder = _folder_of(os.getpid())

    def reports(self) -> Iterator[Path]:
        """What they have left."""
        yield from sorted(self._folder.glob("*.json"))

    def has_shown(self, problem: str) -> bool:
        """Whether one of them has printed the explanation."""
        return any(self._folder.glob(f"*-{problem}{_SHOWN}"))

    def forget(self) -> None:
        """Remove what they have left."""
        _remove(self._folder)


def is_launched() -> bool:
    """Whether this process was started as one of several."""
    return is_spawned() or any(f"\0{name}=" in _first_environment() for name in ("LOCAL_RANK", *RANKS))


def _first_environment() -> str:
    """The variables that the process was started with: one that becomes the first of several sets its own."""
    try:
        return "\0" + Path("/proc/self/environ").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "\0" + "\0".join(f"{name}=" for name in os.environ)


def is_spawned() -> bool:
    """Whether multiprocessing started the interpreter of this process."""
    return any(each.startswith("from multiprocessing.") for each in sys.orig_argv)


def _folder_of(launcher: int) -> Path:
    """Where processes of that launcher leave what they have to say."""
    user = os.getuid() if hasattr(os, "getuid") else ""
    temporary = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"  # noqa: S108 # a folder of our own in it
    return Path(temporary) / f"gradsan-{user}" / f"{launcher}-{_ticks(launcher)}"


def _prepared(folder: Path) -> bool:
    """Whether it is there, and this user's; what is old beside it goes."""
    if folder.is_dir():
        return is_ours(folder)
    try:
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        if not is_ours(folder.parent):
            return False
        folder.mkdir(mode=0o700, exist_ok=True)
        for each in folder.parent.iterdir():
            if each.lstat().st_mtime < time.time() - _OLD:
                _remove(each)
    except OSError:
        return folder.is_dir()
    return True


def _remove(folder: Path) -> None:
    with suppress(OSError):
        if is_ours(folder):
            for each in folder.iterdir():
                each.unlink()
            folder.rmdir()


def _named_by(link: Path) -> int | None:
    """The rank that a link names; one that is older than this process is of an earlier run, and goes."""
    with suppress(OSError):
        if link.lstat().st_mtime >= _began():
            return int(link.readlink().name)
        link.unlink()
    return None


def _began() -> float:
    """When this process did, in seconds of the clock; 0 where the system does not say."""
    ticks = _ticks(os.getpid())
    if ticks is None:
        return 0.0
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")


def _ticks(process: int) -> int | None:
    """When a process began, in ticks since the system did: a number that is given again is another process."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None
