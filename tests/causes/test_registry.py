"""The table of codes is derived from the files; these are its promises to the public."""

import re
from pathlib import Path

import pytest

from gradsan import causes
from gradsan.causes import Cause, all_causes, cause
from gradsan.errors import UnknownCodeError

CODES = [
    "GS001",
    *(f"GS1{number:02}" for number in range(1, 14)),
    *(f"GS2{number:02}" for number in range(1, 5)),
    *(f"GS3{number:02}" for number in range(1, 10)),
]


def test_every_code_has_a_cause() -> None:
    """Codes are public: none disappears, and none is used twice."""
    assert [each.code for each in all_causes()] == CODES


@pytest.mark.parametrize("each", all_causes(), ids=lambda each: each.code)
def test_file_class_and_name_agree(each: type[Cause]) -> None:
    """Whoever knows the name knows the file."""
    file = Path(causes.__path__[0], *each.__module__.split(".")[2:]).with_suffix(".py")

    assert file.stem == each.name.replace("-", "_")
    assert each.__name__ == each.name.title().replace("-", "")


@pytest.mark.parametrize("each", all_causes(), ids=lambda each: each.code)
def test_page_is_complete(each: type[Cause]) -> None:
    """Every page says what it is, shows it, fixes it, and says when not to fix it so."""
    assert re.fullmatch(r"[a-z`].*[^.]", each.summary)
    assert len(each.explanation()) >= 2
    assert all((each.example.program, each.example.fixed, each.fix, each.unless))
    assert each.severity == ("warning" if each.code.startswith("GS3") else "error")


@pytest.mark.parametrize("asked", ["GS103", "gs103", " GS103 ", "carried-state", "Carried-State"])
def test_cause_is_found_by_code_or_name(asked: str) -> None:
    """However somebody types it."""
    assert cause(asked).code == "GS103"


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("GS9", "GS109"),
        ("GS114", "GS111"),
        ("GS10", "GS101"),
        ("carried", "GS103"),
        ("103", "GS103"),
        ("leak", "GS301"),
    ],
)
def test_unknown_code_names_the_nearest(asked: str, nearest: str) -> None:
    """A slip of the finger costs one look."""
    with pytest.raises(UnknownCodeError, match=nearest):
        cause(asked)


def test_unknown_word_points_to_the_table() -> None:
    """Where nothing is near, the table is."""
    with pytest.raises(UnknownCodeError, match="`gradsan explain` lists all codes"):
        cause("xyzzy")
