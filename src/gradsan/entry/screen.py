"""What the reader's screen can show: how wide it is, and whether it has colours."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TextIO, get_args

ColorChoice = Literal["auto", "always", "never"]
COLOR_CHOICES: tuple[ColorChoice, ...] = get_args(ColorChoice)

_WIDEST = 120  # columns; longer lines of prose are hard to read
_UNKNOWN = 80  # columns, where nobody can say, so that files come out the same everywhere


@dataclass(frozen=True, slots=True)
class Style:
    """How the user wants explanations: in colours or not, and how long."""

    color: ColorChoice = "auto"
    verbose: bool = False  # also the path through the graph, and memory


USUAL = Style()


@dataclass(frozen=True, slots=True)
class Screen:
    """How text is to be shown."""

    width: int
    color: bool


def screen_of(stream: TextIO | None, choice: ColorChoice = "auto") -> Screen:
    """The screen behind a stream; None: there is none, as for a file."""
    terminal = _is_terminal(stream)
    return Screen(
        width=min(_columns(stream if terminal else None), _WIDEST),
        color=wants_color(choice, terminal=terminal, environment=os.environ),
    )


def wants_color(choice: ColorChoice, *, terminal: bool, environment: Mapping[str, str]) -> bool:
    """Whether to colour: what was asked for, else https://no-color.org and https://force-color.org, else a terminal."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM") != "dumb"


def encodable(text: str, stream: TextIO | None) -> str:
    """The text in letters that a stream can write; what it cannot is replaced by as many columns of another."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_replaced(letter, encoding) for letter in text.replace("…", "..."))
    except LookupError:  # a stream of the program's own making
        return text
    return text


def _replaced(letter: str, encoding: str) -> str:
    from rich.cells import cell_len

    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        return "?" * cell_len(letter)
    return letter


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):  # a stream of the program's own making, or a closed one
        return False


def _columns(stream: TextIO | None) -> int:
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named):
        return int(named)
    try:
        return _UNKNOWN if stream is None else os.get_terminal_size(stream.fileno()).columns or _UNKNOWN
    except (OSError, ValueError, AttributeError):
        return _UNKNOWN
