"""Whether a pass goes through the parameters of one optimizer to those of another: looked up in a live graph.

As in a GAN, where the generator's pass goes through the discriminator, or with a policy that is trained in a learned
model. What an encoder that serves several heads is given by their losses is meant for it: they are not below it.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from gradsan.observe.graph import Node, leaves_of, reach

_SEVERAL = 0  # in place of the id of the only leaf below an op


def leads_through(roots: Sequence[Node], own: AbstractSet[int], others: AbstractSet[int]) -> bool:
    """Whether there is a path from a loss that comes to some leaves first, and from there to others."""
    below = reach(roots)
    only = _only_leaves(below)
    stack, seen = [(root, False) for root in roots], set[tuple[Node, bool]]()
    while stack:
        node, is_through = step = stack.pop()
        if step in seen:
            continue
        seen.add(step)
        beside = {only[each] for each in below[node]}
        if beside.isdisjoint(others):
            stack.extend((each, is_through or not beside.isdisjoint(own)) for each in below[node])
        elif is_through:
            return True
    return False


def _only_leaves(below: dict[Node, tuple[Node, ...]]) -> dict[Node, int]:
    """For every node, the id of the leaf below it if that is the only one: what an op is given as its weights."""
    found = dict.fromkeys(below, _SEVERAL)
    for node in sorted(below, key=_created):
        leaf = next(leaves_of([node]), None)
        leaves = {found[each] for each in below[node]} if leaf is None else {id(leaf)}
        found[node] = leaves.pop() if len(leaves) == 1 else _SEVERAL
    return found


def _created(node: Node) -> int:
    """Leaves first: they have the highest number."""
    return -1 if not node.next_functions else int(node._sequence_nr())  # noqa: SLF001 # as in graph.py
