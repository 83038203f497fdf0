"""Which ops are still there, and how many bytes their saved values keep in memory."""

from collections import Counter
from collections.abc import Iterable, Mapping

from gradsan.lifecycle.ops import Leaf, Op


class Memory:
    """Counts references as PyTorch does: an op lives while a holder, or an op built on it, leads to it.

    An op holds its inputs' ops, and what its saved tensors hold.
    """

    def __init__(self, leaves: Iterable[Leaf], storages: Mapping[int, int]) -> None:
        self._bytes = storages
        # Parameters are there with or without a graph: they are no cost of it.
        self._counted_elsewhere = {leaf.storage for leaf in leaves}
        self._ops: dict[int, Op] = {}
        self._references: Counter[int] = Counter()
        self._savers: Counter[int] = Counter()
        self._freed: set[int] = set()
        self._kept: dict[int | str, tuple[int, ...]] = {}  # by names, and by ops through their saved tensors
        self.saved_bytes = 0

    @property
    def live(self) -> frozenset[int]:
        """The ops that are still there."""
        return frozenset(self._ops)

    @property
    def saving(self) -> frozenset[int]:
        """The ops that are still there and still have their saved values."""
        return frozenset(each.id for each in self._ops.values() if each.saves and each.id not in self._freed)

    def add(self, op: Op) -> None:
        """An op is created, and in its maker's hand until it is let go."""
        self._ops[op.id] = op
        self._references[op.id] += 1
        for each in op.below:
            self._references[each] += 1
        self.hold(op.id, op.keeps)
        for storage in _storages(op):
            self._savers[storage] += 1
            if self._savers[storage] == 1 and storage not in self._counted_elsewhere:
                self.saved_bytes += self._bytes.get(storage, 0)

    def hold(self, holder: int | str, ops: tuple[int, ...]) -> None:
        """The holder now keeps these, and no longer what it kept before."""
        if isinstance(holder, int) and (holder in self._freed or holder not in self._ops):
            return
        for each in ops:
            self._references[each] += 1
        for each in self._kept.pop(holder, ()):
            self.let_go(each)
        self._kept[holder] = ops

    def let_go(self, op: int) -> None:
        """One reference less; an op without any is gone, and lets go of its inputs."""
        falling = [op]
        while falling:
            each = falling.pop()
            self._references[each] -= 1
            if self._references[each] or each not in self._ops:
                continue
            self.free(each)
            self._freed.discard(each)
            falling += self._ops.pop(each).below

    def free(self, op: int) -> None:
        """A pass gave up the op's saved values."""
        if op in self._freed or op not in self._ops:
            return
        self._freed.add(op)
        for storage in _storages(self._ops[op]):
            self._savers[storage] -= 1
            if not self._savers[storage] and storage not in self._counted_elsewhere:
                self.saved_bytes -= self._bytes.get(storage, 0)
        for each in self._kept.pop(op, ()):
            self.let_go(each)


def _storages(op: Op) -> set[int]:
    return {each.storage for each in op.saves}
