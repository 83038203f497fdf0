"""What earlier checks found, kept by content and version: a file that did not change is not read again."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from gradsan.check.reading import Checked

FOLDER = ".gradsan_cache"
_IGNORE_ALL = "*\n"
_ROOMS = ("knowledge", "source", "facts", "lifecycle", "causes", "check")  # of which findings are made


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file looked like when it was read."""

    size: int
    modified: int  # in nanoseconds
    digest: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What was found in a file, and all files that this depends on."""

    stamp: Stamp
    checked: Checked | None  # None: there was nothing to find
    drawn_in: dict[str, Stamp] = field(default_factory=dict)
    comments: bool = False  # it has comments that ask for silence


@dataclass(slots=True)
class Cache:
    """All that is known, by file."""

    file: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    changed: bool = False

    @classmethod
    def read(cls, root: Path) -> "Cache":
        """What is on disk for this version of gradsan; nothing where it cannot be read."""
        made = cls(root / FOLDER / f"{version_digest()}.json")
        try:
            content = made.file.read_bytes()
        except OSError:
            return made
        import msgspec

        try:
            made.entries = msgspec.json.decode(content, type=dict[str, Entry])
        except msgspec.DecodeError:
            made.entries = {}
        return made

    def get(self, path: str) -> Entry | None:
        """What is known of a file that did not change, nor anything it depends on."""
        entry = self.entries.get(path)
        if entry is None or not _is_same(path, entry.stamp):
            return None
        return entry if all(_is_same(each, stamp) for each, stamp in entry.drawn_in.items()) else None

    def put(self, path: str, content: bytes, checked: Checked | None, *, comments: bool) -> None:
        """Remember what was found."""
        try:
            stamp = stamp_of(path, content)
            others = {each: stamp_of(each) for each in (checked.drawn_in if checked is not None else ())}
        except OSError:
            return
        self.entries[path] = Entry(stamp, checked, others, comments)
        self.changed = True

    def write(self, keep: Iterable[str]) -> None:
        """To disk; a folder that cannot be written to is no reason to fail."""
        if not self.changed:
            return
        import msgspec

        kept = set(keep)
        entries = {path: each for path, each in self.entries.items() if path in kept or os.path.exists(path)}  # noqa: PTH110
        try:
            self.file.parent.mkdir(exist_ok=True)
            ignore = self.file.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text(_IGNORE_ALL, encoding="utf-8")
            unfinished = self.file.with_suffix(f".{os.getpid()}")
            unfinished.write_bytes(msgspec.json.encode(entries))
            unfinished.replace(self.file)
        except OSError:
            return


def stamp_of(path: str, content: bytes | None = None) -> Stamp:
    """What a file looks like now."""
    status = os.stat(path)  # noqa: PTH116 # this runs for every file
    return Stamp(status.st_size, status.st_mtime_ns, _digest(Path(path).read_bytes() if content is None else content))


def _is_same(path: str, stamp: Stamp) -> bool:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return False
    if status.st_size != stamp.size:
        return False
    if status.st_mtime_ns == stamp.modified:
        return True
    try:
        return _digest(Path(path).read_bytes()) == stamp.digest
    except OSError:
        return False


def _digest(content: bytes) -> str:
    import hashlib

    return hashlib.blake2b(content, digest_size=16).hexdigest()


@cache
def version_digest() -> str:
    """A name for this version of the checker: made of its own source, so that a changed checker starts again."""
    import hashlib

    house = Path(__file__).parent.parent
    files = sorted(each for room in _ROOMS for each in (house / room).rglob("*.py"))
    return hashlib.blake2b(b"".join(each.read_bytes() for each in files), digest_size=8).hexdigest()
