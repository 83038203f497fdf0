"""Which values ops read and save, known by numbers: equal numbers, equal values.

A gradient depends on the values that ops saved. Where a change lets ops read their inputs at another time, or once
more, two lives are compared by these numbers.
"""

from collections.abc import Iterable, Iterator

from gradsan.lifecycle.events import Life
from gradsan.lifecycle.ops import Op, Port


class Values:
    """Follows values through a life.

    An optimizer's step counts as the same update in both lives, whatever the gradient: what a change does at first hand
    is of interest, and not that from then on every number of a training differs.
    """

    def __init__(self, life: Life, *, wary: bool = False) -> None:
        self._wary = wary  # takes what an op reads without a trace for something that every write overwrites
        self._places = dict(_places(life))
        self._leaves = {leaf.id: leaf.storage for leaf in life.leaves}
        self._stored = {leaf.storage: leaf.storage for leaf in life.leaves}
        self._outputs: dict[int, int] = {}
        self._results: dict[int, int | None] = {}
        self._newest: tuple[int | None, int] = (None, 0)  # the storage of the op created last, and its value
        self._writes = 0
        self._misplaced_writes = 0

    def make(self, op: Op, origin: int | None) -> list[int]:
        """An op reads its inputs and saves values. The numbers that stand for its derivative by each of them."""
        number = op.id if origin is None else origin
        reads = tuple(self._reads(op))
        output = hash((number, *reads))
        self._outputs[op.id], self._results[op.id] = output, op.result
        if op.result is not None:
            self._stored.setdefault(op.result, output)
        self._newest = op.result, output
        # What a custom Function keeps cannot be seen.
        hidden = reads if op.gives_up_more else ()
        return [hash((number, *hidden, *self._saves(op, output, index))) for index, _ in enumerate(op.inputs)]

    def edit(self, counter: int) -> None:
        """A tensor is changed in place; by the op created just before, if that writes there."""
        self._writes += 1
        storage = self._places.get(counter)
        writer, written = self._newest
        if storage is None:
            self._misplaced_writes += 1
        elif storage == writer:
            self._stored[storage] = written
        else:
            self._overwrite(storage)
        self._newest = (None, 0)

    def step(self, leaves: Iterable[int]) -> None:
        """An optimizer updates leaves."""
        self._writes += 1
        for leaf in leaves:
            self._overwrite(self._leaves[leaf])

    def _overwrite(self, storage: int) -> None:
        self._stored[storage] = hash((self._value(storage), 1))

    def _value(self, storage: int) -> int:
        return self._stored.get(storage, storage)

    def _reads(self, op: Op) -> Iterator[int]:
        yield from map(self._read, op.inputs)
        yield from (self._value(each.storage) for each in op.saves if each.storage != op.result)
        if self._wary:
            yield self._misplaced_writes
            yield self._writes if self._reads_unseen(op) else 0

    def _read(self, port: Port | None) -> int:
        if port is None:
            return 0
        storage = self._storage(port)
        # An edit that was not recorded changes the value and leaves the history alone.
        stored = 0 if storage is None else self._value(storage)
        return hash((self._outputs.get(port.node, 0), port.output, stored))

    def _saves(self, op: Op, output: int, index: int) -> Iterator[int]:
        needed = (each.storage for each in op.saves if each.needed_for in {None, index})
        return (output if each == op.result else self._value(each) for each in needed)

    def _reads_unseen(self, op: Op) -> bool:
        """Whether it reads a tensor without history that it does not save: b in `h + b`, perhaps a detached weight."""
        seen = {op.result, *(self._storage(port) for port in op.inputs if port is not None)}
        others = {each.storage for each in op.saves} - seen
        return op.inputs.count(None) > len(others)

    def _storage(self, port: Port) -> int | None:
        return self._leaves[port.node] if port.node in self._leaves else self._results.get(port.node)


def _places(life: Life) -> Iterator[tuple[int, int]]:
    """Counters of edits, with the storages they belong to."""
    yield from ((storage, storage) for storage in life.storages)
    yield from ((leaf.edits, leaf.storage) for leaf in life.leaves)
    yield from ((each.edits, each.storage) for op in life.made() for each in op.saves)
