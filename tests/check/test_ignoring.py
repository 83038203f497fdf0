"""Patterns of `.gitignore` mean what git means by them; whatever else stands there ends nothing and takes no time."""

import time
from pathlib import Path

import pytest

from gradsan.check.files import find
from gradsan.check.ignoring import read_rules


def verdict(folder: Path, patterns: str, path: str) -> bool | None:
    """What rules say of a path."""
    (folder / ".gitignore").write_text(patterns, encoding="utf-8")
    return read_rules(str(folder)).verdict(path)


@pytest.mark.parametrize(
    ("patterns", "ignored", "wanted"),
    [
        ("build", "build/", "rebuild/"),
        ("build", "deep/build/x.py", "deep/builds/x.py"),
        ("build/", "a/build/", "a/build"),
        ("/a.py", "a.py", "deep/a.py"),
        ("doc/a.py", "doc/a.py", "deep/doc/a.py"),
        ("*.py", "deep/x.py", "deep/x.pyc"),
        ("?.py", "a.py", "ab.py"),
        ("[a-c].py", "b.py", "d.py"),
        ("[!a-c].py", "d.py", "b.py"),
        ("a*b*c", "axxbyyc", "axxbyy"),
        ("**/a/b", "x/y/a/b", "x/a/y/b"),
        ("a/**/b", "a/x/y/b", "c/x/b"),
        ("a/**/b", "a/b", "ab"),
        ("a/**", "a/x/y", "b/x"),
        ("\\#a", "#a", "a"),
        ("a\\ ", "a ", "a"),
        ("*.py\n!keep.py", "x.py", "keep.py"),
        ("a \n# comment\n\nb\r\n", "b", "comment"),
    ],
)
def test_pattern_means_what_git_means(tmp_path: Path, patterns: str, ignored: str, wanted: str) -> None:
    """One path that it matches, and one that it nearly does."""
    assert verdict(tmp_path, patterns, ignored) is True
    assert verdict(tmp_path, patterns, wanted) is not True


@pytest.mark.parametrize(
    "pattern", ["build\\", "!", "[z-a]", "[", "[]", "\\", "/", "//", "a" * 9_000, "\0", "[[:x", "[!"]
)
def test_pattern_that_git_cannot_read_matches_nothing(tmp_path: Path, pattern: str) -> None:
    """And raises nothing."""
    for path in ("a.py", "build/", "z", "deep/x.py"):
        assert verdict(tmp_path, pattern, path) is None


@pytest.mark.parametrize(
    ("pattern", "path"), [("*a" * 25 + "b", "a" * 250 + ".py"), ("**/a/" * 25 + "b", "a/" * 1_200 + "c")]
)
def test_no_pattern_takes_long(tmp_path: Path, pattern: str, path: str) -> None:
    """Each would take years if all ways of matching it were tried."""
    began = time.process_time()

    assert verdict(tmp_path, pattern, path) is None
    assert time.process_time() - began < 5


def test_file_that_cannot_be_read_is_named_and_left_out(tmp_path: Path) -> None:
    """The files that it speaks of are checked."""
    (tmp_path / "a.py").touch()
    (tmp_path / ".gitignore").write_text("x\n" * 5_000, encoding="utf-8")
    reported: list[str] = []

    assert list(find([tmp_path], left_out=lambda _, why: reported.append(why))) == [str(tmp_path / "a.py")]
    assert reported == ["it has more than 2,000 patterns"]
