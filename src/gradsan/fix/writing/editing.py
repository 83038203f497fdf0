"""Edits as values: what two versions of a file differ in, line by line, and the file with edits made."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from gradsan.errors import ChangedFileError, GradsanError
from gradsan.facts.location import in_cell
from gradsan.report import Edit
from gradsan.source.file import Source
from gradsan.source.notebooks import as_typed, readable_lines, taken_apart

_LONG = 1_000  # lines
Step = tuple[str, int, int, int, int]  # what is done, to which of the old lines, and what they become


class OverlappingEditsError(GradsanError):
    """Two edits want to change the same line."""


def edits_between(file: str, old: Sequence[str], new: Sequence[str]) -> tuple[Edit, ...]:
    """The edits that lead from the old lines to the new ones.

    An edit replaces whole lines with whole lines: where lines are only added or only taken away, the line beside them
    is part of it, so that there is always something that can be compared with the file.
    """
    steps = _steps(old, new)
    place = {  # in the new text, of every old line that stays
        line: line - first + new_first
        for tag, first, last, new_first, _ in steps
        if tag == "equal"
        for line in range(first, last)
    }
    edits = []
    for first, last in _hunks(steps, len(old)):
        new_first = 0 if first == 0 else place[first - 1] + 1
        new_last = len(new) if last == len(old) else place[last]
        edits.append(Edit(file, first + 1, last, _joined(old[first:last]), _joined(new[new_first:new_last])))
    return tuple(edits)


def edits_to(file: str, source: Source, new: Sequence[str]) -> tuple[Edit, ...]:
    """The same, from what a file says; of a notebook, each in its cell."""
    if not source.cells:
        return edits_between(file, source.lines, new)
    found: list[Edit] = []
    for number, old, changed in taken_apart(source, new):
        for edit in edits_between(file, old, changed):
            old_typed, new_typed = ("\n".join(as_typed(source, each.split("\n"))) for each in (edit.old, edit.new))
            found.append(replace(edit, cell=number, old=old_typed, new=new_typed))
    return tuple(found)


def edited_source(source: Source, edits: Iterable[Edit]) -> tuple[str, ...]:
    """The lines of a program with the edits made; refused as by `edited`."""
    return edited(source.lines, [_among_all(each, source) for each in edits])


def _among_all(edit: Edit, source: Source) -> Edit:
    """An edit of a cell as one of the program that the cells make."""
    if edit.cell is None:
        return edit
    first, last = (source.line_in(edit.cell, line) for line in (edit.line, edit.end_line))
    old, new = readable_lines(edit.old), readable_lines(edit.new)
    return replace(edit, line=first, end_line=last, old=old, new=new, cell=None)


def _steps(old: Sequence[str], new: Sequence[str]) -> list[Step]:
    """What `difflib` makes of both, which is given what lies between the first and the last difference alone."""
    before = _shared(zip(old, new, strict=False))
    after = min(_shared(zip(reversed(old), reversed(new), strict=False)), min(len(old), len(new)) - before)
    middle, new_middle = old[before : len(old) - after], new[before : len(new) - after]
    is_long = len(middle) > _LONG  # it takes the square of lines that are equal, unless it may leave frequent ones out
    matcher = difflib.SequenceMatcher(None, middle, new_middle, autojunk=is_long)
    inner = [(tag, *(before + each for each in place)) for tag, *place in matcher.get_opcodes()]
    last = (len(old) - after, len(old), len(new) - after, len(new))
    return [("equal", 0, before, 0, before), *inner, ("equal", *last)]  # type: ignore[list-item] # four numbers each


def _shared(pairs: Iterable[tuple[str, str]]) -> int:
    """How many pairs at the beginning are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _hunks(steps: Iterable[Step], lines: int) -> list[tuple[int, int]]:
    """The stretches of the old text that differ; those that share a line are one."""
    found: list[tuple[int, int]] = []
    for tag, first, last, _, _ in steps:
        if tag == "equal":
            continue
        if tag != "replace":
            first, last = (first, last + 1) if last < lines else (first - 1, last)  # noqa: PLW2901 # the line beside it
        if found and found[-1][1] >= first:
            first = found.pop()[0]  # noqa: PLW2901 # both
        found.append((first, last))
    return found


def _joined(lines: Iterable[str]) -> str:
    """Without the last line end, and with plain ones between: an edit speaks of lines, not of bytes."""
    return "\n".join(line.rstrip("\r\n") for line in lines)


def edited(lines: Sequence[str], edits: Iterable[Edit]) -> tuple[str, ...]:
    """The lines of a file with the edits made; refused where they overlap or do not fit the file."""
    result = list(lines)
    below = len(lines) + 1  # the first line that is taken
    for edit in sorted(edits, key=lambda each: (each.line, each.end_line), reverse=True):
        if not 1 <= edit.line <= edit.end_line <= len(lines):
            raise ChangedFileError(f"{edit.file} has no such lines any more", "run the program again for a new report")
        if edit.end_line >= below:
            raise OverlappingEditsError(
                f"two edits change {edit.file}:{edit.end_line}", "apply one of them, and ask again for the other"
            )
        present = _joined(lines[edit.line - 1 : edit.end_line])
        if present != edit.old:
            raise ChangedFileError(
                f"{edit.file}:{edit.line} has changed since the edit was made", "run the program again for a new report"
            )
        end = _line_end(lines, edit)
        last = lines[edit.end_line - 1]
        ends = [end] * edit.new.count("\n") + [last[len(last.rstrip("\r\n")) :]]
        texts = edit.new.split("\n")
        result[edit.line - 1 : edit.end_line] = [text + each for text, each in zip(texts, ends, strict=True)]
        below = edit.line
    return tuple(result)


def _line_end(lines: Sequence[str], edit: Edit) -> str:
    """The line end that is used around the edit."""
    for line in (*lines[edit.line - 1 : edit.end_line], *lines):
        if end := line[len(line.rstrip("\r\n")) :]:
            return end
    return "\n"


def shown_diff(file: str, source: Source, new: Sequence[str]) -> str:
    """What new lines change in a program, for a reader: of a notebook, cell by cell, as it was typed."""
    if not source.cells:
        return unified_diff(file, source.lines, new)
    return "".join(
        unified_diff(in_cell(file, number), _typed(source, before), _typed(source, after))
        for number, before, after in taken_apart(source, new)
    )


def _typed(source: Source, lines: Sequence[str]) -> list[str]:
    return [f"{line}\n" for line in as_typed(source, [each.rstrip("\r\n") for each in lines])]


def unified_diff(file: str, old: Sequence[str], new: Sequence[str]) -> str:
    """As `git diff` shows it, so that `git apply` takes it."""
    lines = difflib.unified_diff(list(old), list(new), f"a/{file}", f"b/{file}", lineterm="\n")
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
