"""Edits are values: they lead from one text to the other, touch only the lines they claim, and are made once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsan.errors import ChangedFileError
from gradsan.fix.writing.editing import OverlappingEditsError, edited, edits_between, unified_diff
from gradsan.report import Edit

WORDS = st.sampled_from(["a", "b", "c", "    d", "", "é = 1  # ü"])
TEXTS = st.lists(WORDS, min_size=1, max_size=12)
ENDS = st.sampled_from(["\n", "\r\n"])


def lines(texts: list[str], end: str) -> list[str]:
    """A file's lines."""
    return [text + end for text in texts]


@given(TEXTS, TEXTS, ENDS)
def test_edits_lead_from_the_old_text_to_the_new(old: list[str], new: list[str], end: str) -> None:
    """Whatever the two are, with the file's own line ends."""
    before, after = lines(old, end), lines(new, end)

    edits = edits_between("x.py", before, after)

    assert list(edited(before, edits)) == after
    assert not edits_between("x.py", after, after)


@given(TEXTS, TEXTS)
def test_only_the_lines_of_an_edit_change(old: list[str], new: list[str]) -> None:
    """All others are there afterwards, in their order."""
    before = lines(old, "\n")
    edits = edits_between("x.py", before, lines(new, "\n"))
    claimed = {number for edit in edits for number in range(edit.line, edit.end_line + 1)}

    untouched = [line for number, line in enumerate(before, 1) if number not in claimed]

    rest = iter(edited(before, edits))
    assert all(line in rest for line in untouched)
    assert all((edit.old and edit.new) or len(before) == 1 or "" in (edit.old, edit.new) for edit in edits)


def test_edits_of_one_line_are_refused_together() -> None:
    """One of them would be lost."""
    one, other = Edit("x.py", 1, 1, "a", "b"), Edit("x.py", 1, 2, "a\nz", "c")

    with pytest.raises(OverlappingEditsError):
        edited(["a\n", "z\n"], [one, other])


def test_edit_of_another_text_is_refused() -> None:
    """The file has changed since; what the edit knows of it is no longer so."""
    with pytest.raises(ChangedFileError):
        edited(["changed\n"], [Edit("x.py", 1, 1, "a", "b")])


def test_last_line_without_an_end_stays_without_one() -> None:
    """Also where lines are added in front of it."""
    assert edited(["a\r\n", "b"], [Edit("x.py", 2, 2, "b", "x\nb")]) == ("a\r\n", "x\r\n", "b")


def test_diff_is_one_that_git_takes() -> None:
    """Down to the missing line end."""
    without = "\\ No newline at end of file\n"
    expected = f"--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-b\n{without}+c\n{without}"

    assert unified_diff("x.py", ["a\n", "b"], ["a\n", "c"]) == expected
