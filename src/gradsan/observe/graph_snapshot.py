"""A snapshot of a pass's graph, and what can be inferred from it of passes like that one."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradsan.observe.graph import leaves_of, loss_chain, ranges_of, reach, roots_of, run_towards, version_of


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was seen of a pass's graph."""

    order: int  # of the pass
    begin: int  # the op counter when it began
    created: int  # how many ops had been created since the pass before it
    losses: tuple[int, ...]  # creation numbers of its roots, and of the terms that they are sums of
    walked: "array[int]"  # creation numbers, as ranges
    leaves: dict[int, int]  # id of a leaf → its version

    def walks(self, number: int) -> bool:
        """Whether the pass runs the op with this number."""
        return bisect_right(self.walked, number) % 2 == 1

    def moved(self, begin: int) -> tuple["array[int]", tuple[int, ...]]:
        """What a pass like it walks that began then, and its losses: the same ops created again, and none older."""
        since, by = self.begin - self.created, begin - self.begin
        walked = array("Q")
        for start, stop in zip(self.walked[::2], self.walked[1::2], strict=True):
            if start >= since:
                walked.extend((start + by, stop + by))
        return walked, tuple(number + by for number in self.losses if number >= since)


def snapshot_of(
    tensors: Sequence[Any], args: tuple[Any, ...], named: dict[str, Any], when: tuple[int, int, int]
) -> Snapshot:
    """Walk the graph that a pass is about to walk; `when`: its order, the op counter, and how many ops were created."""
    roots = roots_of(tensors)
    losses = tuple(each._sequence_nr() for each in loss_chain(roots))  # noqa: SLF001 # as in graph.py
    below = reach(roots)
    inputs = tuple((args[3] if len(args) > 3 else named.get("inputs")) or ())  # noqa: PLR2004 # by place, as torch gives it
    runs = run_towards(below, inputs, accumulates=bool(named.get("accumulate_grad")))
    leaves = {id(leaf): version_of(leaf) for leaf in leaves_of(below)}
    return Snapshot(*when, losses, ranges_of(runs), leaves)
