"""What all text for a terminal has in common: styles, wrapping, and the last step to a string."""

import textwrap
from io import StringIO

from rich.text import Text

NARROWEST = 40  # columns; below that, prose is no longer readable and the terminal may cut it
SEVERITY = {"error": "bold red", "warning": "bold yellow"}
DIFF = {"-": "red", "+": "green"}


def wrapped(paragraph: str, width: int) -> list[str]:
    """Lines of prose; names and paths stay whole."""
    return textwrap.wrap(paragraph, width, break_long_words=False, break_on_hyphens=False)


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
