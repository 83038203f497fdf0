"""What the files of a project said at one moment, in digests: to know later whether somebody changed one."""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from gradsan.errors import ChangedFileError
from gradsan.fix.trials.sandbox.copies import below
from gradsan.source.bounded import digest_of
from gradsan.source.disk import first_read

SOURCES = (".py", ".ipynb")
_MOST = 50_000  # files and folders that are looked at


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Digests of all Python files and notebooks; of others, size and time are enough."""

    root: Path
    digests: Mapping[str, str]
    is_whole: bool  # the project was not too large to be looked through

    @classmethod
    def of_nothing(cls, root: Path) -> "Snapshot":
        """What a file said shows when it is read."""
        return cls(root, {}, is_whole=False)

    @classmethod
    def of(cls, root: Path) -> "Snapshot":
        """As it is now."""
        found: dict[str, str] = {}
        entries = list(islice(below(root), _MOST + 1))
        for path, size in entries[:_MOST]:
            with suppress(OSError):  # gone meanwhile
                if size is not None:
                    found[path.as_posix()] = _digest(root / path)
        return cls(root, found, len(entries) <= _MOST)

    def digest(self, *more: str) -> str:
        """A name for all of it, and for what else is given."""
        whole = hashlib.blake2b(digest_size=20)
        for each in (*more, *(f"{name}\0{digest}" for name, digest in sorted(self.digests.items()))):
            whole.update(each.encode(errors="surrogateescape") + b"\0\0")
        return whole.hexdigest()

    def is_current(self) -> bool:
        """Whether no file has changed, come or gone since."""
        return self.is_whole and Snapshot.of(self.root).digests == self.digests

    def demand_unchanged(self, files: Iterable[str]) -> None:
        """Raise where one of them does not say what its edit was made of: what somebody typed must not be lost.

        That is what it said when the snapshot was made, and when this process first read it.
        """
        for file in files:
            seen = self.digests.get(file) if file.endswith(SOURCES) else None
            known = {each for each in (seen, first_read(str(self.root / file))) if each is not None}
            if known != {digest_of((self.root / file).read_bytes())}:
                raise ChangedFileError(f"{file!r} was changed meanwhile", "nothing was written; run gradsan fix again")


def _digest(path: Path) -> str:
    if path.suffix in SOURCES:
        return digest_of(path.read_bytes())
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"
