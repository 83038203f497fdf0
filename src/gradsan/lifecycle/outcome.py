"""What a life comes to."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low

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

    @property
    def growth(self) -> int:
        """Bytes of saved values that every step leaves behind beyond those of the step before.

        Steps are those of one optimizer; without optimizers, the passes from one line.
        """
        if self.updates:
            return _growth((each.optimizer, each.saved_bytes) for each in self.updates)
        return _growth(
            (walked.asked.site, kept.saved_bytes) for walked, kept in zip(self.walks, self.kept, strict=True)
        )

    @property
    def walk_growth(self) -> int:
        """Ops that every pass walks beyond those of the pass before it from the same line."""
        return _growth((each.asked.site, len(each.executed)) for each in self.walks)


def _growth(amounts: Iterable[tuple[object, int]]) -> int:
    """The usual rise from one amount to the next of the same kind; 0 where there are too few to say."""
    kinds: defaultdict[object, list[int]] = defaultdict(list)
    for kind, amount in amounts:
        kinds[kind].append(amount)
    return max(map(_usual_rise, kinds.values()), default=0)


def _usual_rise(amounts: list[int]) -> int:
    rises = [later - earlier for earlier, later in pairwise(amounts)]
    return median_low(rises) if len(rises) > 1 else 0
