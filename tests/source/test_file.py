"""A file is read as Python reads it, once, without a word about it, and written back as it was."""

import ast
import warnings
from unittest.mock import Mock

import pytest

from gradsan.source.comments import commented
from gradsan.source.file import UnreadableSourceError, compiles, expression, parse, same_code, tree_of

ESCAPES = "x = '\\d' if 1 is 1 else '\\w'\n"


@pytest.mark.parametrize(
    "content",
    [
        "x = 'ü'\r\ny = 1".encode(),
        b"\xef\xbb\xbfx = 1\n",
        "# -*- coding: latin-1 -*-\nx = 'ü'\n".encode("latin-1"),
        b"x = 1\ry = 2\r",
        b"x = 1\n\x0cy = 2\n",
        b"",
    ],
)
def test_file_is_written_back_as_it_was(content: bytes) -> None:
    """Whatever its encoding and its line ends; its lines are those that the tree counts."""
    source = parse("x.py", content)

    assert source.content == content
    assert "".join(source.lines) == source.text
    assert all(source.lines[each.lineno - 1].strip() for each in source.tree.body)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"x =\n", "syntax error"),
        (b"\0", "null bytes"),
        (b"# coding: nonsense\n", "encoding"),
        (b"x = '\xff'\n", "encoding"),
        (b"x = " + b"(" * 500, "syntax error"),
    ],
)
def test_what_is_no_python_is_refused_with_a_reason(content: bytes, reason: str) -> None:
    """And nothing else is raised."""
    with pytest.raises(UnreadableSourceError) as error:
        parse("x.py", content)

    assert reason in error.value.reason


def test_same_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks, and for whatever file."""
    parsing = Mock(side_effect=ast.parse)
    monkeypatch.setattr(ast, "parse", parsing)
    tree_of.cache_clear()

    one, other = parse("x.py", b"once = 1\n"), parse("y.py", b"once = 1\n")

    assert one.tree is other.tree
    assert parsing.call_count == 1


def test_warnings_about_the_users_literals_are_not_shown() -> None:
    """Nor turned into errors; and the filters are as they were, down to what was shown already."""
    before = list(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inside = list(warnings.filters)

        assert parse("x.py", ESCAPES.encode()).tree.body
        assert compiles(ESCAPES)
        assert expression("'\\d'") is not None
        assert list(warnings.filters) == inside

    assert list(warnings.filters) == before


def test_comment_is_put_where_it_changes_nothing() -> None:
    """A line inside of a string takes none; line ends stay."""
    content = b'x = """\r\nb"""\r\ny = 1\r\n'

    new = commented("x.py", content, {(None, 1): {"GS103"}, (None, 3): {"GS301"}})

    assert new == b'x = """\r\nb"""\r\ny = 1  # gradsan: ignore[GS301]\r\n'
    assert same_code(content.decode(), new.decode())
