"""Files with edits made: all that an edit knows of a file must still be so."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from gradsan.errors import ChangedFileError, GradsanError
from gradsan.fix.writing.editing import edited_source
from gradsan.report import Edit
from gradsan.source.bounded import inside
from gradsan.source.disk import load, parsed, said_by
from gradsan.source.file import Source
from gradsan.source.notebook_cells import UnusualNotebookError, with_program


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
        content = result[file] if file in result else said_by(str(path))
        result[file] = _notebook(source, content, its_edits) if source.cells else _file(source, content, its_edits)
    return result


def _file(source: Source, content: bytes, edits: list[Edit]) -> bytes:
    if source.content != content:
        raise ChangedFileError(
            f"{source.path!r} cannot be written back in its encoding without other changes", "edit it by hand"
        )
    return "".join(edited_source(source, edits)).encode(source.encoding)


def _notebook(source: Source, content: bytes, edits: list[Edit]) -> bytes:
    """Lines of some cells, and not another byte."""
    try:
        return with_program(content, source, edited_source(source, edits))
    except (UnusualNotebookError, UnicodeDecodeError) as error:
        raise ChangedFileError(f"{source.path!r} cannot be edited ({error})", "edit the cell by hand") from None


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
