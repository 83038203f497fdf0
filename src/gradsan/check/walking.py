"""Which ops a pass reaches, by which way, and how sure that is."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from gradsan.check.graph import DOUBTFUL, LIKELY, SURE, Edge, Leaf, Op


@dataclass(frozen=True, slots=True)
class Reached:
    """How a pass gets to an op."""

    doubt: int
    parent: Op | None
    edge: Edge | None


def reach(roots: Iterable[Op], inputs: Collection[Op | Leaf] | None = None) -> dict[Op, Reached]:
    """All ops that a pass from these roots walks, each by its surest way.

    With `inputs`, only those on the way to one of them.
    """
    roots = tuple(roots)
    found = {root: Reached(SURE, None, None) for root in roots}
    levels: list[list[Op]] = [list(roots), [], []]
    for level, waiting in enumerate(levels):
        while waiting:
            op = waiting.pop()
            if found[op].doubt != level or op.healed:
                continue
            own = _doubt_beyond(op, is_root=op in roots)
            for edge in op.edges:
                doubt = max(level, own, edge.op.doubt)
                known = found.get(edge.op)
                if known is None or known.doubt > doubt:
                    found[edge.op] = Reached(doubt, op, edge)
                    levels[doubt].append(edge.op)
    return found if inputs is None else _on_the_way(found, inputs)


def way_to(op: Op, found: dict[Op, Reached]) -> list[Op]:
    """From the root to the op, both included."""
    way = [op]
    while (parent := found[way[-1]].parent) is not None:
        way.append(parent)
    return way[::-1]


def terms(root: Op) -> set[Op]:
    """The losses that a root is a sum of, and the sums on the way to them."""
    found = {root}
    waiting = [root]
    while waiting:
        op = waiting.pop()
        if op.form == "linear":
            for edge in op.edges:
                if edge.op not in found and edge.op.scalar:
                    found.add(edge.op)
                    waiting.append(edge.op)
    return found


def peeled(op: Op) -> Op:
    """The loss itself, without the scaling around it."""
    while op.form == "linear" and len(op.edges) == 1 and not op.leaves and op.edges[0].op.scalar:
        op = op.edges[0].op
    return op


def _doubt_beyond(op: Op, *, is_root: bool) -> int:
    """How doubtful it is that an op hands on what it was given.

    That the root has a history is shown by the call; where it was given only one, that is the one.
    """
    if is_root and op.doubt == DOUBTFUL and len(op.edges) == 1:
        return LIKELY
    return op.doubt


def _on_the_way(found: dict[Op, Reached], inputs: Collection[Op | Leaf]) -> dict[Op, Reached]:
    leads: dict[Op, bool] = {}
    for op in sorted(found, key=lambda each: each.number):
        leads[op] = (
            op in inputs
            or any(leaf in inputs for leaf in op.leaves)
            or any(leads.get(edge.op, False) for edge in op.edges)
        )
    return {op: how for op, how in found.items() if leads[op]}
