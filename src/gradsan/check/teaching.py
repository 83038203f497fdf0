"""Networks that teach each other: each has an optimizer of its own, and they meet in the loss alone."""

from collections.abc import Mapping

from gradsan.check.graph import Leaf, Op, leaves_in
from gradsan.check.old_part import below
from gradsan.check.troubles import SecondWalk
from gradsan.check.walking import path_to, reach


def path_to_teacher(
    trouble: SecondWalk, owners: Mapping[Leaf, frozenset[str]], stepped: frozenset[str]
) -> tuple[list[Op], list[Op]] | None:
    """From the loss to where it is given what a network computes that has stepped already, and on to a freed op.

    None where the networks meet before the loss does, as `observe/failure/teaching.py` has it for a running program.
    """
    owned = _owned(trouble, owners)
    trained = frozenset().union(*owned.values())
    if not stepped < trained or len(trained) == 1:
        return None
    meeting = [op for op, of in owned.items() if len(of) > 1]
    arriving = [(op, edge.op) for op in meeting for edge in op.edges if len(owned.get(edge.op, ())) == 1]
    if any(op.leaves for op in meeting) or not all(_is_network(each) for _, each in arriving):
        return None
    for op, each in arriving:
        inward = _path(each, trouble) if owned[each] <= stepped else None
        if inward is not None:
            return path_to(op, trouble.found), inward
    return None


def _owned(trouble: SecondWalk, owners: Mapping[Leaf, frozenset[str]]) -> dict[Op, frozenset[str]]:
    """The optimizers of all parameters below each op of the failing pass; an op is newer than what it builds on."""
    owned: dict[Op, frozenset[str]] = {}
    for op in sorted(trouble.found, key=lambda each: each.number):
        own = (owners.get(leaf, frozenset()) for leaf in op.leaves)
        owned[op] = frozenset().union(*own, *(owned.get(edge.op, frozenset()) for edge in op.edges))
    return owned


def _is_network(op: Op) -> bool:
    """Whether layers are below it, or several tensors: one leaf stands for all parameters of a layer."""
    leaves = leaves_in(below([op]))
    return len(leaves) > 1 or any(leaf.name != leaf.module for leaf in leaves)


def _path(op: Op, trouble: SecondWalk) -> list[Op] | None:
    """A path from an op to one that was freed."""
    found = reach([op])
    freed = next((each for each in found if each in trouble.freed), None)
    return None if freed is None else path_to(freed, found)
