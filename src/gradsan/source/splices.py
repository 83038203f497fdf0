"""Edits of a text by character: what lies outside of them stays as it is, to the last space."""

from collections.abc import Iterable
from typing import NamedTuple


class OverlappingSplicesError(Exception):
    """Two splices want to change the same characters."""


class NoPlaceError(Exception):
    """There is no place in the text for what is to be put there."""


class Splice(NamedTuple):
    """Another text for a stretch of characters; an insertion where that is empty."""

    start: int
    end: int
    text: str

    def is_within(self, other: "Splice") -> bool:
        """Whether another one takes all of its place."""
        return other.start <= self.start and self.end <= other.end


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all of them made, those of one place in the order given; refused where they overlap.

    Only what is taken away may be taken away twice.
    """
    pieces: list[str] = []
    done = 0
    for each in sorted(splices, key=lambda each: (each.start, each.end)):
        if each.start < done and (each.text or pieces[-1]):
            raise OverlappingSplicesError(text[each.start : each.end])
        pieces += (text[done : each.start], each.text)
        done = max(done, each.end)
    return "".join([*pieces, text[done:]])
