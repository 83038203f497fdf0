"""Files with edits made: all that an edit knows of a file must still be so."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from gradsan.errors import ChangedFileError, GradsanError
from gradsan.fix.editing import edited
from gradsan.report import Edit
from gradsan.source.bounded import content_of, inside
from gradsan.source.disk import load, parsed


class OutsideError(GradsanError):
    """An edit of a file that does not lie in the working directory."""


def edited_files(edits: Iterable[Edit], root: Path, changed: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """What the files become that the edits change, beside those that are changed already. Nothing is written."""
    result = dict(changed or {})
    by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        by_file.setdefault(edit.file, []).append(edit)
    for file, its_edits in by_file.items():
        path = _inside(file, root)
        source = parsed(str(path), result[file]) if file in result else load(str(path))
        if source is None:
            raise ChangedFileError(f"{file!r} cannot be read any more", "run the program again for a new report")
        if source.content != (result[file] if file in result else content_of(path)):
            raise ChangedFileError(
                f"{file!r} cannot be written back in its encoding without other changes", "edit it by hand"
            )
        result[file] = "".join(edited(source.lines, its_edits)).encode(source.encoding)
    return result


def unwritten(changed: Mapping[str, bytes], root: Path) -> dict[Path, tuple[bytes, bytes]]:
    """For each file: what it says on disk now, and what it is to say."""
    paths = {_inside(file, root): content for file, content in changed.items()}
    return {path: (path.read_bytes(), content) for path, content in paths.items()}


def _inside(file: str, root: Path) -> Path:
    """Where the file is, links followed; only the working directory is ours to change."""
    path = inside(root, file)
    if path is None:
        raise OutsideError(
            f"{file!r} lies outside the working directory", "change into its folder, and try again there"
        )
    return path
