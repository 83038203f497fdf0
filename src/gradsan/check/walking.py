"""Which ops a pass walks, by which path, and how sure that is. What it runs, and where it raises, says the law."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from gradsan.check.graph import DOUBTFUL, LIKELY, SURE, Edge, Label, Leaf, Op
from gradsan.lifecycle.engine import Reason, run

Node = Op | Leaf


@dataclass(frozen=True, slots=True)
class Reached:
    """How a pass gets to an op."""

    doubt: int
    parent: Op | None
    edge: Edge | None

    @property
    def label(self) -> Label | None:
        """The name that the edge was taken from."""
        return None if self.edge is None else self.edge.label


@dataclass(frozen=True, slots=True)
class Walk:
    """The ops that a pass runs, each by its surest path, and those of them that raise, in the engine's order."""

    found: dict[Op, Reached]
    refused: tuple[tuple[Op, Reason], ...]


class _Graph:
    """The ops that a path has created, as the law reads them."""

    def below(self, node: Node) -> list[Node]:
        """What an op hands gradients to; nothing further, where its trouble is reported already."""
        if isinstance(node, Leaf):
            return []
        return [*node.leaves] if node.healed else [*(edge.op for edge in node.edges), *node.leaves]

    def newness(self, node: Node) -> int | None:
        """Ops are numbered as they are created."""
        return None if isinstance(node, Leaf) else node.number

    def refusal(self, node: Node) -> Reason | None:
        """Why running an op raises: it is freed, or what it saved was changed."""
        if isinstance(node, Leaf) or node.healed:
            return None
        if node.inner is not None and node.walked:  # its own backward runs a pass, which frees
            return "freed"
        if node.freed is not None:
            return "freed" if node.saves else None
        return "edited" if node.is_edited else None


_GRAPH = _Graph()


def walk(roots: Iterable[Op], inputs: Collection[Node] | None = None, *, inclusive: bool = True) -> Walk:
    """What a pass from these roots does; with `inputs`, one that is to reach them alone.

    `inclusive`: it runs the op of an input too, as `backward(inputs=…)` does and `autograd.grad` does not.
    """
    roots = tuple(roots)
    ran = run(roots, _GRAPH, inputs, inclusive=inclusive, lenient=True)
    refused = tuple((op, reason) for op, reason in ran.refused if isinstance(op, Op))
    return Walk(_surest(roots, set(ran.executed)), refused)


def reach(roots: Iterable[Op]) -> dict[Op, Reached]:
    """All ops that a pass from these roots walks, each by its surest path."""
    return walk(roots).found


def _surest(roots: tuple[Op, ...], executed: Collection[Node]) -> dict[Op, Reached]:
    """The surest path to each op that is executed: what is sure is gone through first, what is doubtful last."""
    found = {root: Reached(SURE, None, None) for root in roots}
    levels: list[list[Op]] = [list(roots), [], []]
    for level, waiting in enumerate(levels):
        while waiting:
            op = waiting.pop()
            is_open = found[op].doubt == level and not op.healed
            own = max(level, _doubt_beyond(op, is_root=op in roots))
            for edge in [each for each in op.edges if each.op in executed] if is_open else ():
                doubt = max(own, edge.op.doubt)
                if edge.op not in found or found[edge.op].doubt > doubt:
                    found[edge.op] = Reached(doubt, op, edge)
                    levels[doubt].append(edge.op)
    return {op: how for op, how in found.items() if op in executed}


def path_to(op: Op, found: dict[Op, Reached]) -> list[Op]:
    """From the root to the op, both included."""
    path = [op]
    while (parent := found[path[-1]].parent) is not None:
        path.append(parent)
    return path[::-1]


def terms(root: Op) -> set[Op]:
    """The losses that a root is a sum of, and the sums on the path to them."""
    found = {root}
    waiting = [root]
    while waiting:
        op = waiting.pop()
        added = {edge.op for edge in op.edges if edge.op.scalar} if op.form == "linear" else set()
        waiting += added - found
        found |= added
    return found


def peeled(op: Op) -> Op:
    """The loss itself, without the scaling around it."""
    while op.form == "linear" and len(op.edges) == 1 and not op.leaves and op.edges[0].op.scalar:
        op = op.edges[0].op
    return op


def _doubt_beyond(op: Op, *, is_root: bool) -> int:
    """How doubtful it is that an op hands on what it was given.

    That the root has a graph is shown by the call; where it was given only one, that is the one.
    """
    if is_root and op.doubt == DOUBTFUL and len(op.edges) == 1:
        return LIKELY
    return op.doubt
