"""What earlier checks found, kept by path, content and version: a file that did not change is not read again."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from gradsan import user_cache
from gradsan.check.reading import Checked
from gradsan.source.bounded import content_of, digest_of

_KIND = "checks"
_ROOMS = ("knowledge", "source", "facts", "lifecycle", "causes", "check")  # of which findings are made
_SETTLED = 2_000_000_000  # nanoseconds; what changed later than that before a check may change again unnoticed


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file looked like when it was read."""

    size: int
    times: tuple[int, int]  # of its content and of its entry, in nanoseconds; zeros: not to be relied on
    digest: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What was found in a file, and all files that this depends on."""

    stamp: Stamp
    checked: Checked
    drawn_in: dict[str, Stamp] = field(default_factory=dict)
    comments: bool = False  # it has comments that ask for silence


@dataclass(slots=True)
class Cache:
    """All that is known, by file as seen from the working directory."""

    name: str
    entries: dict[str, Entry] = field(default_factory=dict)
    changed: bool = False
    began: int = field(default_factory=time.time_ns)

    @classmethod
    def read(cls, folder: Path) -> "Cache":
        """What the user has for this version of gradsan and this working directory; nothing where it cannot be read."""
        name = digest_of(os.fsencode(folder) + version_digest().encode())
        return cls(name, user_cache.kept(_KIND, name, dict[str, Entry]) or {})

    def get(self, path: str) -> Entry | None:
        """What is known of a file that did not change, nor anything it depends on."""
        entry = self.entries.get(path)
        if entry is None or not _is_same(path, entry.stamp):
            return None
        return entry if all(_is_same(each, stamp) for each, stamp in entry.drawn_in.items()) else None

    def put(self, checked: Checked, *, comments: bool) -> None:
        """Remember what was found in a file."""
        path = checked.path
        try:
            path.encode()
            stamps = {each: self._stamp(each, known) for each, known in checked.drawn_in.items()}
            self.entries[path] = Entry(self._stamp(path, checked.digest), checked, stamps, comments)
            self.changed = True
        except (OSError, UnicodeEncodeError):  # gone meanwhile; a name that is no text
            return

    def write(self, keep: Iterable[str]) -> None:
        """To disk; where that is not possible, everything is read again another time."""
        if not self.changed:
            return
        kept = set(keep)
        entries = {path: each for path, each in self.entries.items() if path in kept or os.path.exists(path)}  # noqa: PTH110
        user_cache.keep(_KIND, self.name, entries)

    def _stamp(self, path: str, digest: str) -> Stamp:
        status = os.stat(path)  # noqa: PTH116 # this runs for every file
        times = (status.st_mtime_ns, status.st_ctime_ns)
        return Stamp(status.st_size, times if max(times) < self.began - _SETTLED else (0, 0), digest)


def _is_same(path: str, stamp: Stamp) -> bool:
    try:
        status = os.stat(path)  # noqa: PTH116
        if status.st_size != stamp.size:
            return False
        return (status.st_mtime_ns, status.st_ctime_ns) == stamp.times or digest_of(content_of(path)) == stamp.digest
    except OSError:
        return False


@cache
def version_digest() -> str:
    """A name for this version of the checker: made of its own source, so that a changed checker starts again."""
    import hashlib

    house = Path(__file__).parent.parent
    files = sorted(each for room in _ROOMS for each in (house / room).rglob("*.py"))
    return hashlib.blake2b(b"".join(each.read_bytes() for each in files), digest_size=8).hexdigest()
