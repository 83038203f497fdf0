"""The gradients that leaves collect, and what a program makes of them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from gradsan.lifecycle.engine import PRIME, Walk
from gradsan.lifecycle.ops import Leaf

# Each leaf's gradient whenever the program made use of it; None: it had none.
Uses = Mapping[int, tuple[int | None, ...]]


class Gradients:
    """Adds up what leaves receive, and notes what is used of it: by an optimizer's step, else before it is cleared."""

    def __init__(self, leaves: Iterable[Leaf]) -> None:
        self._leaves = {leaf.id: leaf for leaf in leaves}
        self.current: dict[int, int] = {}
        self._fresh: set[int] = set()  # leaves that received something since it was last used or cleared
        self._by_step: defaultdict[int, list[int | None]] = defaultdict(list)
        self._by_hand: defaultdict[int, list[int | None]] = defaultdict(list)

    def receive(self, walked: Walk) -> None:
        """A pass adds to the gradients of leaves."""
        if not walked.asked.accumulates:
            return
        for (node, _), gradient in walked.received.items():
            if node in self._leaves:
                self.current[node] = (self.current.get(node, 0) + gradient) % PRIME
                self._fresh.add(node)

    def step(self, leaves: Iterable[int]) -> dict[int, int]:
        """An optimizer uses those of its leaves' gradients that are there."""
        for leaf in leaves:
            self._by_step[leaf].append(self.current.get(leaf))
            self._fresh.discard(leaf)
        return {leaf: self.current[leaf] for leaf in leaves if leaf in self.current}

    def edit(self, counter: int) -> None:
        """A leaf that is edited by hand is updated by hand."""
        for leaf in self._leaves.values():
            if leaf.edits == counter:
                self._use_by_hand(leaf.id)

    def clear(self, leaves: Iterable[int], *, to_none: bool) -> None:
        """Gradients are given up."""
        for leaf in leaves:
            self._use_by_hand(leaf)
            if to_none:
                self.current.pop(leaf, None)
            elif leaf in self.current:
                self.current[leaf] = 0

    def uses(self) -> Uses:
        """What was used of every leaf's gradient, and at the end what is left to use."""
        return {
            leaf: tuple(self._by_step.get(leaf, self._by_hand[leaf]))
            + ((self.current.get(leaf),) if leaf in self._fresh else ())
            for leaf in self._leaves
        }

    def _use_by_hand(self, leaf: int) -> None:
        if leaf in self._fresh:
            self._by_hand[leaf].append(self.current.get(leaf))
            self._fresh.discard(leaf)


def given(walks: Iterable[Walk], leaves: Collection[int]) -> dict[int, tuple[int | None, ...]]:
    """What passes handed to the program itself: `autograd.grad`, or `backward(inputs=…)` to tensors that are no leaves.

    By pass, for every such input in turn. What the program computes from them cannot be known.
    """
    handed = {
        each.asked.id: tuple(
            each.received.get(port)
            for port in each.asked.inputs or ()
            if port is not None and not (each.asked.accumulates and port.node in leaves)
        )
        for each in walks
    }
    return {number: gradients for number, gradients in handed.items() if gradients}


def differing(before: Uses, after: Uses) -> list[int]:
    """The leaves of which other gradients are used."""
    return [leaf for leaf in before if before[leaf] != after[leaf]]


def having(uses: Uses, walks: Iterable[Walk]) -> set[int]:
    """The leaves of which any gradient is used at all, or handed to the program."""
    asked_for = {port.node for each in walks if not each.asked.accumulates for port in each.received}
    return asked_for | {leaf for leaf, used in uses.items() if any(each is not None for each in used)}
