"""What a life leaves behind, step by step."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from statistics import median_low

from gradsan.lifecycle.outcome import Outcome


def growth(outcome: Outcome) -> int:
    """Bytes of saved values that every step leaves behind beyond those of the step before.

    Steps are those of one optimizer; without optimizers, the passes from one line.
    """
    if outcome.updates:
        return _growth((each.optimizer, each.saved_bytes) for each in outcome.updates)
    pairs = zip(outcome.walks, outcome.kept, strict=True)
    return _growth((walked.asked.site, kept.saved_bytes) for walked, kept in pairs)


def walk_growth(outcome: Outcome) -> int:
    """Ops that every pass walks beyond those of the pass before it from the same line."""
    return _growth((each.asked.site, len(each.executed)) for each in outcome.walks)


def _growth(amounts: Iterable[tuple[object, int]]) -> int:
    """The usual rise from one amount to the next of the same kind; 0 where there are too few to say."""
    kinds: defaultdict[object, list[int]] = defaultdict(list)
    for kind, amount in amounts:
        kinds[kind].append(amount)
    return max(map(_usual_rise, kinds.values()), default=0)


def _usual_rise(amounts: list[int]) -> int:
    rises = [later - earlier for earlier, later in pairwise(amounts)]
    return median_low(rises) if len(rises) > 1 else 0
