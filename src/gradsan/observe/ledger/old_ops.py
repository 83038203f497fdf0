"""The part of a pass's graph that is old: ops whose values come from a leaf that has been changed since."""

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass

from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.failure.trained_again import trained_again
from gradsan.observe.graph import VIEWING, Node, inverted, is_operand, kind_of, leaves_of, walked
from gradsan.observe.graph_snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a pass enters what is old: from an op that was created since, or with the very tensor it was asked for."""

    old: Node
    new: Node | None  # None: the pass was asked for what is old


@dataclass(frozen=True)
class OldOps:
    """What is old in the graph of a pass."""

    graph: Graph
    ops: frozenset[Node]
    earlier: Snapshot  # of a pass that walked them as well, before the leaves below them were changed
    changed: frozenset[int]  # ids of the leaves below them that were changed

    @property
    def is_on_the_processor(self) -> bool:
        """Whether all that was changed lies in the memory of the processor, and so was computed in this thread."""
        leaves = leaves_of(self.graph.below)
        return all(leaf.device.type == "cpu" for leaf in leaves if id(leaf) in self.changed)

    def entries(self) -> list[Entry]:
        """All of them, the newest old op first."""
        found = [Entry(root, None) for root in self.graph.roots if root in self.ops]
        found += [
            Entry(inner, node)
            for node, following in self.graph.below.items()
            for inner in following
            if node not in self.ops and inner in self.ops
        ]
        return sorted(found, key=lambda each: -self.graph.number[each.old])

    def is_trained_again(self, entry: Entry) -> bool:
        """Whether the term of the loss that builds on them there trains all parameters below them apart from them."""
        path = self._path(entry)
        return trained_again(self.graph, path, len(path) - 1, self.ops)

    def is_operand(self, entry: Entry) -> bool:
        """Whether what is old is multiplied as features and weights are."""
        return is_operand(self._path(entry)[:-1])

    def created_since(self) -> Iterator[int]:
        """The creation numbers of what was created since the earlier pass, the newest first."""
        numbers = sorted(self.graph.number.values(), reverse=True)
        return (each for each in numbers if each >= self.earlier.begin)

    def numbers_below(self, node: Node) -> list[int]:
        """The creation numbers of an old op and of the old ones below it, the newest first."""
        below = self.graph.beneath([node])
        return sorted((self.graph.number[each] for each in below if each in self.ops), reverse=True)

    def _path(self, entry: Entry) -> list[Node]:
        return [*([] if entry.new is None else self.graph.path(entry.new)), entry.old]


def old_ops(graph: Graph, snapshot: Snapshot, earlier: Snapshot) -> OldOps | None:
    """What is old in the graph of a pass, given what was seen of an earlier one; None: nothing is."""
    now = snapshot.leaves.items()
    changed = frozenset(leaf for leaf, version in now if earlier.leaves.get(leaf, version) != version)
    copies = _copies(graph, changed)
    ops = frozenset(each for each in copies if _is_walked(graph.number.get(each), snapshot, earlier))
    if not ops:
        return None
    below = {id(leaf) for leaf in leaves_of(graph.beneath(ops))}
    return OldOps(graph, ops, earlier, changed & below)


def _is_walked(number: int | None, *snapshots: Snapshot) -> bool:
    return number is not None and all(each.walks(number) for each in snapshots)


def _copies(graph: Graph, changed: Container[int]) -> Collection[Node]:
    """The ops above these leaves that do not follow them: a view has the values that its leaf has now."""
    above = inverted(graph.below)
    leaves = [each for each in graph.below if id(getattr(each, "variable", None)) in changed]
    views = walked(leaves, lambda node: filter(_follows, above.get(node, ())))
    copies = (each for node in views for each in above.get(node, ()) if not _follows(each))
    return walked(copies, lambda node: above.get(node, ()))


def _follows(node: Node) -> bool:
    """Whether the result of an op is the very memory of what it was given, or may be: of a Function nobody knows."""
    return kind_of(node) in VIEWING or hasattr(type(node), "saved_tensors")
