"""What git would ignore: the patterns of `.gitignore` files, whatever they say.

A pattern is made into a regular expression that never goes back over what it has matched, so that no pattern takes long
over any name. One that git itself could not read matches nothing.
"""

import os
import re
from dataclasses import dataclass

from gradsan.source.bounded import content_of

NAME = ".gitignore"
_MOST_BYTES = 1_000_000
_MOST_PATTERNS = 2_000
_LONGEST = 4_096  # characters of a path
_NEVER = "(?!)"


class TooManyPatternsError(OSError):
    """More patterns than anybody wrote by hand; all files would have to be compared with all of them."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    regex: re.Pattern[str]
    ignores: bool  # False: what a pattern before it ignores is wanted all the same


@dataclass(frozen=True, slots=True)
class Rules:
    """What the `.gitignore` of a folder says."""

    folder: str
    patterns: tuple[_Pattern, ...]

    def verdict(self, path: str) -> bool | None:
        """Whether a path, as seen from the folder, is ignored; None: nothing is said of it. Folders end in a slash."""
        return next((each.ignores for each in reversed(self.patterns) if each.regex.match(path)), None)


def read_rules(folder: str) -> Rules:
    """The rules of a folder; an `OSError` where they cannot be read."""
    content = content_of(os.path.join(folder, NAME), _MOST_BYTES)  # noqa: PTH118 # this runs for every folder
    lines = [line for line in content.decode(errors="replace").split("\n") if line.strip() and not line.startswith("#")]
    if len(lines) > _MOST_PATTERNS:
        raise TooManyPatternsError(0, f"it has more than {_MOST_PATTERNS:,} patterns")
    return Rules(os.path.abspath(folder), tuple(map(_pattern, lines)))  # noqa: PTH100


def _pattern(line: str) -> _Pattern:
    text = line.removesuffix("\r")
    stripped = text.rstrip(" ")
    text = stripped + " " if stripped.endswith("\\") and stripped != text else stripped
    ignores = not text.startswith("!")
    text = text if ignores else text[1:]
    return _Pattern(re.compile(_regex(text) if len(text) <= _LONGEST else _NEVER, re.DOTALL), ignores)


def _regex(text: str) -> str:
    """For paths from the folder of the pattern on: what it names, and everything in it."""
    segments = text.removesuffix("/").split("/")
    if len(segments) == 1:
        segments.insert(0, "**")  # a name without a folder is meant everywhere
    elif not segments[0]:
        del segments[0]
    after = "/" if text.endswith("/") else "(?:/|$)"
    blocks = _blocks(segments)
    if not any(blocks):
        return "[^/]+" + after
    *first, last = blocks
    between = "".join(f"(?>{_ANY_FOLDERS if n else ''}{'/'.join(block)}/)" for n, block in enumerate(first) if block)
    return f"{between}{_ANY_FOLDERS if first else ''}{'/'.join(last)}{after}" if last else f"{between}."


_ANY_FOLDERS = "(?:[^/]+/)*?"


def _blocks(segments: list[str]) -> list[list[str]]:
    """What stands between `**` and `**`, each a list of names one below the other."""
    blocks: list[list[str]] = [[]]
    for segment in segments:
        if segment == "**":
            blocks.append([])
        else:
            blocks[-1].append(_name(segment))
    return blocks


def _name(glob: str) -> str:
    """A name with its wildcards; each `*` takes the first that fits, the last one what is left."""
    pieces, at = [""], 0
    while at < len(glob):
        piece, at = _piece(glob, at)
        if piece is None:
            pieces.append("")
        else:
            pieces[-1] += piece
    first, *rest = pieces
    if not glob:
        return _NEVER
    middle = "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1] if piece)
    return "(?=[^/])" + first + middle + "".join(f"[^/]*{piece}(?=/|$)" for piece in rest[-1:])


def _piece(glob: str, at: int) -> tuple[str | None, int]:
    """What stands at a place, for one letter, and where the next begins; None: any number of letters."""
    match glob[at]:
        case "*":
            return None, at + 1
        case "?":
            return "[^/]", at + 1
        case "[":
            return _letters(glob, at + 1)
        case "\\":
            return (re.escape(glob[at + 1]) if at + 1 < len(glob) else _NEVER), at + 2
    return re.escape(glob[at]), at + 1


def _letters(glob: str, at: int) -> tuple[str, int]:
    """`[a-z]` and `[!a-z]`, from behind the bracket on; a bracket that is not closed matches nothing."""
    negated = glob[at : at + 1] in ("!", "^")
    start = at + negated
    end = glob.find("]", start + 1)
    if end < 0:
        return _NEVER, len(glob)
    found = ""
    letters = glob[start:end].replace("\\", "")
    while letters:
        is_range = letters[1:2] == "-" and len(letters) > 2  # noqa: PLR2004 # from, dash, to
        low, high = (letters[0], letters[2]) if is_range else (letters[0], letters[0])
        found += f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
        letters = letters[3 if is_range else 1 :]
    if not found:
        return ("[^/]" if negated else _NEVER), end + 1
    return f"(?!/)[{'^' if negated else ''}{found}]", end + 1
