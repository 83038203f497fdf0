"""What all text for a terminal has in common: styles, wrapping, and the last step to a string."""

import difflib
from collections.abc import Sequence
from io import StringIO

from rich.cells import cell_len
from rich.text import Text

from gradsan.show.harmless import neutral

NARROWEST = 40  # columns; below that, prose is no longer readable and the terminal may cut it
SEVERITY = {"error": "bold red", "warning": "bold yellow"}
DIFF = {"-": "red", "+": "green"}
_MANY = 60  # lines
_LONG = 20_000  # letters


def wrapped(paragraph: str, width: int) -> list[str]:
    """Lines of prose, by columns: letters of some scripts take two. Names and paths stay whole."""
    lines: list[str] = []
    for word in paragraph.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def changed_lines(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The lines that go and come, each behind `- ` or `+ `, and the lines beside them, which say where.

    Similar ones stand beside one another where there are few.
    """
    if max(len(old), len(new)) > _MANY or sum(map(len, (*old, *new))) > _LONG:  # `ndiff` takes the cube of them
        return [f"- {line}" for line in old] + [f"+ {line}" for line in new]
    lines = [line for line in difflib.ndiff(old, new) if line[0] != "?"]
    beside = [any(each[0] in DIFF for each in lines[max(at - 1, 0) : at + 2]) for at in range(len(lines))]
    return [line for line, is_beside in zip(lines, beside, strict=True) if is_beside]


def patch_lines(diff: str) -> list[str]:
    """The lines of a patch as they may be shown, with the line ends they had, so that `git apply` takes them."""
    lines = diff.removesuffix("\n").split("\n") if diff else []
    return [neutral(line.removesuffix("\r")) + ("\r" if line.endswith("\r") else "") for line in lines]


def with_inline_code(text: Text) -> Text:
    """Colour what stands between backticks."""
    text.highlight_regex(r"`[^`]+`", "cyan")
    return text


def rendered(text: Text, *, color: bool) -> str:
    """The string to print; it depends on nothing that rich could ask the environment for."""
    if not color:
        return text.plain
    from rich.console import Console

    console = Console(
        file=StringIO(),
        width=10_000,  # the text is wrapped already
        height=25,
        force_terminal=True,
        force_jupyter=False,
        color_system="standard",
        no_color=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        console.print(text, end="", soft_wrap=True)
    return captured.get()
