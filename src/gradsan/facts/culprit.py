"""The name that an explanation is about, and files as a report names them."""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from gradsan.facts.location import in_cell
from gradsan.source.disk import cell_at

Holder = Literal["local", "argument", "attribute", "item", "closure", "global", "buffer", "optimizer"]


@dataclass(frozen=True, slots=True)
class Culprit:
    """The name through which the problem lives on, as the user would write it."""

    name: str  # `h`, `self.hidden`, `losses[0]`
    holder: Holder


@dataclass(frozen=True, slots=True)
class Named:
    """The name through which it came about, if it could be found."""

    culprit: Culprit
    certain: bool


def shown(file: str) -> str:
    """A file as reports name it: relative to the working directory where it lies under it."""
    try:
        return _shown_from(os.getcwd(), file)  # noqa: PTH109 # asked for every line that a report names
    except OSError:  # the working directory may be gone
        return file


def shown_line(file: str, line: int) -> str:
    """A line as reports name it, in a sentence: `file:line`, or `file:In[cell]:line` in a notebook."""
    cell, first = cell_at(file, line)
    return f"{in_cell(shown(file), cell)}:{line - first + 1}"


@lru_cache(maxsize=256)
def _shown_from(directory: str, file: str) -> str:
    try:
        return str(Path(file).resolve().relative_to(directory))
    except (ValueError, OSError):
        return file
