"""What the files of a project said at one moment, in digests: to know later whether somebody changed one."""

import hashlib
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from gradsan.fix.editing import ChangedFileError
from gradsan.fix.sandbox.copies import below

_MOST = 50_000  # files and folders that are looked at


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Digests of all Python files; of others, size and time are enough."""

    root: Path
    digests: Mapping[str, str]
    is_whole: bool  # the project was not too large to be looked through
    taken: float  # the time

    @classmethod
    def of_nothing(cls, root: Path) -> "Snapshot":
        """Only the time is noted, by which a later change shows."""
        return cls(root, {}, is_whole=False, taken=time.time())

    @classmethod
    def of(cls, root: Path) -> "Snapshot":
        """As it is now."""
        found: dict[str, str] = {}
        taken = time.time()
        entries = list(islice(below(root), _MOST + 1))
        for path, size in entries[:_MOST]:
            with suppress(OSError):  # gone meanwhile
                if size is not None:
                    found[path.as_posix()] = _digest(root / path)
        return cls(root, found, len(entries) <= _MOST, taken)

    def digest(self, *more: str) -> str:
        """A name for all of it, and for what else is given."""
        whole = hashlib.blake2b(digest_size=20)
        for each in (*more, *(f"{name}\0{digest}" for name, digest in sorted(self.digests.items()))):
            whole.update(each.encode(errors="surrogateescape") + b"\0\0")
        return whole.hexdigest()

    def is_current(self) -> bool:
        """Whether no file has changed, come or gone since."""
        return self.is_whole and Snapshot.of(self.root).digests == self.digests

    def with_files(self, files: Iterable[str]) -> "Snapshot":
        """With what these files say, who must not have changed so far."""
        wanted = list(files)
        self.demand_unchanged(wanted)
        return replace(self, digests={**{file: _digest(self.root / file) for file in wanted}, **self.digests})

    def demand_unchanged(self, files: Iterable[str]) -> None:
        """Raise where one of them was changed since: what somebody typed meanwhile must not be lost."""
        for file in files:
            path, known = self.root / file, self.digests.get(file)
            is_same = path.stat().st_mtime <= self.taken if known is None else _digest(path) == known
            if not is_same:
                raise ChangedFileError(f"{file!r} was changed meanwhile", "nothing was written; run gradsan fix again")


def _digest(path: Path) -> str:
    if path.suffix == ".py":
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"
