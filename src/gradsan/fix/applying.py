"""Writes edits into files: all that an edit knows of a file must still be so, and a file is the old or the new one."""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from gradsan.errors import GradsanError
from gradsan.fix.editing import ChangedFileError, edited
from gradsan.fix.source import parse, read
from gradsan.report import Edit


class UnwritableFileError(GradsanError):
    """A file that was to be mended cannot be written."""


def mended(edits: Iterable[Edit], root: Path, changed: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """What the files become that the edits change, beside those that are changed already. Nothing is written."""
    result = dict(changed or {})
    by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        by_file.setdefault(edit.file, []).append(edit)
    for file, its_edits in by_file.items():
        path = (root / file).resolve()
        source = parse(path, result[file]) if file in result else read(path)
        if source is None:
            raise ChangedFileError(f"{file!r} cannot be read any more", "run the program again for a new report")
        result[file] = "".join(edited(source.lines, its_edits)).encode(source.encoding)
    return result


def unwritten(changed: Mapping[str, bytes], root: Path) -> dict[Path, tuple[bytes, bytes]]:
    """For each file: what it says on disk now, and what it is to say."""
    paths = {(root / file).resolve(): content for file, content in changed.items()}
    return {path: (path.read_bytes(), content) for path, content in paths.items()}


def write(changes: Mapping[Path, tuple[bytes, bytes]]) -> None:
    """Write all of them: beside the files first, then each into its place in one step.

    Whatever happens on the way, every file is either the old or the new one, and nothing is left beside it.
    """
    ready: list[tuple[Path, Path]] = []
    try:
        for path, (_, content) in changes.items():
            ready.append((_beside(path, content), path))
        for path, (old, _) in changes.items():
            if path.read_bytes() != old:
                raise ChangedFileError(f"{str(path)!r} was changed meanwhile", "nothing was written; try again")
        while ready:
            new, path = ready[0]
            new.replace(path)
            ready.pop(0)
    except OSError as error:
        raise UnwritableFileError(
            f"cannot write {error.filename or 'a file'!r} ({error.strerror})", "make it writable, and try again"
        ) from None
    finally:
        for new, _ in ready:
            with contextlib.suppress(OSError):
                new.unlink()


def _beside(path: Path, content: bytes) -> Path:
    """The new content in a file of its own, on the same disk, with the same permissions, and safely there."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".gradsan", dir=path.parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(path.stat().st_mode)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    return new
