"""What a life comes to."""

from collections.abc import Mapping
from dataclasses import dataclass

from gradsan.lifecycle.engine import Walk
from gradsan.lifecycle.leaf_gradients import Uses


@dataclass(frozen=True, slots=True)
class Kept:
    """What is in memory at one moment."""

    live: frozenset[int]  # ops that are still there
    saving: frozenset[int]  # those of them that still have their saved values
    saved_bytes: int  # of saved values; parameters do not count


@dataclass(frozen=True, slots=True)
class Update:
    """One step of an optimizer, with the gradients that its leaves had then (as numbers that stand for them)."""

    optimizer: str
    gradients: Mapping[int, int]
    saved_bytes: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a life comes to."""

    walks: tuple[Walk, ...]
    kept: tuple[Kept, ...]  # after each walk
    updates: tuple[Update, ...]
    gradients: Mapping[int, int]  # of each leaf that has one, at the end
    uses: Uses
    left: Kept  # at the end
    peak_saved_bytes: int

    @property
    def failed(self) -> Walk | None:
        """The first pass that raised."""
        return next((each for each in self.walks if each.failure), None)
