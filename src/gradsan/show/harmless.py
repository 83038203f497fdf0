"""Text of others made harmless, in one place: source, names of files, reports, whatever a program has printed.

Nothing in it moves a cursor, reverses what follows, begins a line of its own, or gives a command to whoever reads the
log of a build. Letter for letter, so that what stands under a line still stands under the same letters.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

_T = TypeVar("_T")
_OF_LINES = frozenset({"diff", "old", "new"})  # fields of a report that are whole lines
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
# `::error file=…::` at the start of a line, which prose may break anywhere, and `##[error]` or `##vso[…]` anywhere.
_COMMAND = re.compile(r"(?<!\S):(?=:[A-Za-z])|(?<=#)#(?=(?:vso|teamcity)?\[)")
_LOOK_ALIKES = {":": "\N{MODIFIER LETTER COLON}", "#": "\N{MUSIC SHARP SIGN}"}
_UNPRINTABLE = re.compile(r"[^\n -~]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Letters(dict[int, str]):
    """What is shown for a letter."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        is_shown = letter.isprintable() or letter == "\t" or unicodedata.category(letter) == "Zs"
        self[code] = letter if is_shown else _UNKNOWN
        return self[code]


_LETTERS = _Letters()
_LETTERS_OF_LINES = _Letters({ord("\n"): "\n"})


def neutral(text: str, *, lines: bool = False) -> str:
    """The text as it may be shown; `lines`: it may have several."""
    shown = text.translate(_LETTERS_OF_LINES if lines else _LETTERS)
    return _COMMAND.sub(lambda found: _LOOK_ALIKES[found[0]], shown)


def harmless(value: _T) -> _T:
    """A report, or a part of one, with all its texts neutral."""
    return _with_texts(value, "", _neutral_field)  # type: ignore[no-any-return]


def _neutral_field(name: str, text: str) -> str:
    return neutral(text, lines=name in _OF_LINES)


def decodable(value: _T) -> _T:
    """The same without what stands for bytes that are no text, as in the names of some files."""
    return _with_texts(value, "", lambda _, text: _SURROGATE.sub(_UNKNOWN, text))  # type: ignore[no-any-return]


def _with_texts(value: Any, name: str, change: Callable[[str, str], str]) -> Any:  # noqa: ANN401 # parts of a report
    match value:
        case str():
            return change(name, value)
        case (int(), *_):  # a column of numbers may have many
            return value
        case tuple():
            return tuple(_with_texts(each, name, change) for each in value)
        case Mapping():
            return {change(name, key): _with_texts(each, name, change) for key, each in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            named = {each.name: getattr(value, each.name) for each in fields(value)}
            return replace(value, **{each: _with_texts(held, each, change) for each, held in named.items()})
    return value


def in_json(text: str) -> str:
    """JSON that says the same in letters that can be shown; beyond ASCII, it has nothing but strings."""
    printable = _UNPRINTABLE.sub(_escaped, text)
    return _COMMAND.sub(lambda found: _as_escape(ord(found[0])), printable)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0].isprintable():
        return found[0]
    if code <= 0xFFFF:  # noqa: PLR2004 # what one escape can say
        return _as_escape(ord(_UNKNOWN) if _SURROGATE.match(found[0]) else code)
    high, low = divmod(code - 0x10000, 0x400)
    return _as_escape(0xD800 + high) + _as_escape(0xDC00 + low)


def _as_escape(code: int) -> str:
    return f"\\u{code:04x}"
