"""A pass of a reference run, as the program asks for it, and when what lies below its ops was changed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gradsan.observe.graph import Node, reach, roots_of, run_towards
from gradsan.observe.private import NO_NUMBER, private

RETAIN, CREATE, INPUTS = 1, 2, 3  # the places of the engine's arguments, after the tensors


@dataclass(frozen=True, slots=True)
class Asked:
    """A pass, as the program asks for it."""

    roots: tuple[Node, ...]  # of its losses
    below: dict[Node, tuple[Node, ...]]  # all ops that these lead to
    runs: frozenset[Node]  # those that it walks
    frees: bool
    accumulates: bool  # `backward()`; False: `autograd.grad`


def asked(tensors: Iterable[Any], args: list[Any], named: dict[str, Any]) -> Asked:
    """What the engine is about to do."""
    roots = tuple(roots_of(tensors))
    below = reach(roots)
    inputs = tuple((args[INPUTS] if len(args) > INPUTS else named.get("inputs")) or ())
    accumulates = bool(named.get("accumulate_grad"))
    runs = frozenset(run_towards(below, inputs, accumulates=accumulates))
    return Asked(roots, below, runs, not args[RETAIN], accumulates)


def op_counter() -> int:
    """How many ops this thread has created."""
    counter = private().op_counter
    return 0 if counter is None else counter()


def number_of(node: Node) -> int:
    """The creation number; -1 for a leaf's, which has none."""
    number = node._sequence_nr()  # noqa: SLF001 # as in graph.py
    return -1 if number == NO_NUMBER else int(number)


def newest_below(below: dict[Node, tuple[Node, ...]], time_of: Callable[[Node], int]) -> dict[Node, int]:
    """For every op the latest of the times of itself and of all that it leads to."""
    return chosen_below(below, time_of, max)


def chosen_below(
    below: dict[Node, tuple[Node, ...]], time_of: Callable[[Node], int], chosen: Callable[[list[int]], int]
) -> dict[Node, int]:
    """For every op the one that is chosen of the times of itself and of all that it leads to."""
    found: dict[Node, int] = {}
    for root in below:
        stack = [root]
        while stack:
            node = stack[-1]
            waiting = [each for each in below[node] if each not in found]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            found[node] = chosen([time_of(node), *(found[each] for each in below[node])])
    return found
