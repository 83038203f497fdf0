"""How much of graphs was alive whenever backward passes began, and whether it grew: read from the samples of a run.

This is the one place that says what growing means: for pages, and for what trials of fixes show.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gradsan.facts.details import EARLIER, Sample

_MOSTLY = 2 / 3  # of all changes


@dataclass(frozen=True, slots=True)
class GraphMemory:
    """What was alive at most, and what every pass added to it where it grew."""

    ops: int
    saved_bytes: int  # about, of values that were not freed
    ops_a_step: int = 0  # 0: it does not grow
    bytes_a_step: int = 0


def in_memory(samples: Sequence[Sample], holder: int | None = None) -> GraphMemory:
    """What one holder kept alive of graphs; None: all of them together."""
    ops, saved = [], []
    for sample in samples:
        shares = [each for each in sample.shares if holder in (None, each.holder)]
        ops.append(sum(each.ops for each in shares))
        saved.append(sum(each.saved_bytes for each in shares))
    return GraphMemory(max(ops, default=0), max(saved, default=0), _growth(samples, ops), _growth(samples, saved))


def held_under(samples: Sequence[Sample], holders: Sequence[str], name: str) -> GraphMemory | None:
    """What a name was seen to hold; None: it was not among the holders."""
    holder = holders.index(name) if name in holders else None
    is_seen = any(each.holder == holder for sample in samples for each in sample.shares)
    return in_memory(samples, holder) if is_seen else None


def growing(samples: Sequence[Sample], holders: Sequence[str], name: str) -> str | None:
    """The holder that grows: this name or, where its graph goes on into losses, what those lead to of earlier steps.

    None: neither was seen to grow.
    """
    found = ((each, held_under(samples, holders, each)) for each in (name, EARLIER))
    return next((each for each, held in found if held is not None and (held.ops_a_step or held.bytes_a_step)), None)


def _growth(samples: Sequence[Sample], amounts: Sequence[int]) -> int:
    """What a pass adds, in the middle of all that add something.

    It grows where two of three changes are rises, and the later half of the run has one too: what is emptied after
    each epoch grows, a window that is full does not.
    """
    passes = [max(later.number - earlier.number, 1) for earlier, later in pairwise(samples)]
    rates = [(later - earlier) / span for (earlier, later), span in zip(pairwise(amounts), passes, strict=True)]
    changes, rises = [each for each in rates if each], sorted(each for each in rates if each > 0)
    is_over = all(each <= 0 for each in rates[len(rates) // 2 :])
    if is_over or len(rises) < _MOSTLY * len(changes):
        return 0
    return round(rises[len(rises) // 2])
