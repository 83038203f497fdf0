"""What every cause is made of: a page that teaches it, and programs that prove the page."""

import inspect
import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from gradsan.report import Severity

Role = Literal["made", "held", "cut", "freed", "changed", "enters", "used"]  # in the order in which a story is told


@dataclass(frozen=True, slots=True)
class Example:
    """A complete program with the problem, and the same program mended. The tests run both."""

    program: str
    shows: str  # how PyTorch's error begins, or for a silent cause all that the program prints
    fixed: str
    fixed_shows: str = ""  # all that the mended program prints


class Cause:
    """One way in which a graph's life goes wrong.

    The docstring of a cause is the first part of its page: what happened, and why PyTorch reacts as it does.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    summary: ClassVar[str]  # one line for the table of codes
    example: ClassVar[Example]
    fix: ClassVar[str]  # what mends it
    unless: ClassVar[str]  # when that is the wrong thing to do, and what to do then
    # What the places of a diagnosis are to the story. A cause may say it in better words of its own.
    roles: ClassVar[dict[Role, str]] = {
        "made": "made",
        "held": "kept",
        "cut": "cut off here",
        "freed": "freed by this pass",
        "changed": "changed",
        "enters": "enters the later forward",
        "used": "needs it again",
    }

    @classmethod
    def explanation(cls) -> tuple[str, ...]:
        """The docstring as paragraphs, each one line of text."""
        text = inspect.getdoc(cls) or ""
        return tuple(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text))
