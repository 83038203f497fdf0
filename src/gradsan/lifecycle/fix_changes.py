"""What a fix does to a life: one change for every kind of fix that the law can predict."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from gradsan.lifecycle.events import Cleared, Created, Edited, Event, Held, Life, Walked
from gradsan.lifecycle.life_edits import (
    Edge,
    UnforeseeableError,
    asking,
    cutting,
    each_event,
    each_op,
    inserting,
    leaving_out,
    moving,
    storage_of,
    views_rebuilt,
    writes_in_place,
)
from gradsan.lifecycle.ops import Op, Port
from gradsan.lifecycle.repetition import Renaming, repeating, withdrawing


class Change(ABC):
    """One thing changed in a program. Positions are indices into the events of the life it is applied to.

    Where a life does not say what becomes of it, applying the change raises an `UnforeseeableError`.
    """

    kind: ClassVar[str]  # the kind of fix, as reports name it
    rereads: ClassVar[bool] = False  # whether ops read their inputs at another time, or once more

    @abstractmethod
    def applied(self, life: Life) -> Life:
        """The life of the changed program."""

    def keeps_values(self, life: Life) -> bool:  # noqa: ARG002  # most do, in any life
        """Whether the forward provably computes what it did, as far as the same values come in."""
        return True


@dataclass(frozen=True, slots=True)
class Detach(Change):
    """Tensors keep their values and lose their history where these edges lead, and in the hands of these holders."""

    edges: frozenset[Edge] = frozenset()
    holders: frozenset[str] = frozenset()
    kind: ClassVar[str] = "detach"

    def applied(self, life: Life) -> Life:
        """The life without these edges."""
        return each_event(cutting(life, edges=self.edges), self._let_go)

    def _let_go(self, event: Event) -> Event:
        return Held(event.holder) if isinstance(event, Held) and event.holder in self.holders else event


class Item(Detach):
    """A number takes the tensor's place."""

    kind = "item"


class ResetState(Detach):
    """The state begins again, without history and with other values."""

    kind = "reset-state"

    def keeps_values(self, life: Life) -> bool:  # noqa: ARG002 # others look
        """It does not: that is its purpose."""
        return False


@dataclass(frozen=True, slots=True)
class NoGrad(Change):
    """These ops run under `torch.no_grad()`: they are never created, and what builds on them finds no history.

    For views that is not all: PyTorch lets one made there require a gradient, which then leads nowhere.
    """

    ops: frozenset[int]
    kind: ClassVar[str] = "no-grad"

    def applied(self, life: Life) -> Life:
        """The life without these ops."""
        return cutting(life, ops=self.ops)


@dataclass(frozen=True, slots=True)
class Reattach(Change):
    """Edges that a detach had cut are there again: op, place among its inputs, and what it builds on.

    What the op then saves for that gradient is not in the life: bytes, and what is edited or freed, are the least.
    """

    edges: frozenset[tuple[int, int, Port]]
    kind: ClassVar[str] = "re-attach"

    def applied(self, life: Life) -> Life:
        """The life with these edges."""
        joined = {(op, index): below for op, index, below in self.edges}

        def attached(op: Op) -> Op:
            return replace(op, inputs=tuple(joined.get((op.id, index), each) for index, each in enumerate(op.inputs)))

        return each_op(life, attached)


@dataclass(frozen=True, slots=True)
class Retain(Change):
    """These passes keep the graph."""

    passes: frozenset[int]
    kind: ClassVar[str] = "retain-graph"

    def applied(self, life: Life) -> Life:
        """The life in which they do."""
        return asking(life, self.passes, lambda each: replace(each, retain_graph=True))


@dataclass(frozen=True, slots=True)
class CreateGraph(Change):
    """These passes keep the graph and make one of the gradients too.

    Which ops that makes is known only to a run; here it counts as keeping the graph.
    """

    passes: frozenset[int]
    kind: ClassVar[str] = "create-graph"

    def applied(self, life: Life) -> Life:
        """The life in which they do."""
        return asking(life, self.passes, lambda each: replace(each, retain_graph=None, create_graph=True))

    def keeps_values(self, life: Life) -> bool:  # noqa: ARG002 # others look
        """What is computed from the gradients gets a history, and that is not in the life."""
        return False


@dataclass(frozen=True, slots=True)
class DropRetain(Change):
    """These passes are asked for without `retain_graph`."""

    passes: frozenset[int]
    kind: ClassVar[str] = "remove-retain"

    def applied(self, life: Life) -> Life:
        """The life in which they free what they walk, unless they make a graph of the gradients."""
        return asking(life, self.passes, lambda each: replace(each, retain_graph=None))


@dataclass(frozen=True, slots=True)
class Combine(Change):
    """One pass over the sum of the losses, in the place of the last of these passes."""

    passes: frozenset[int]
    kind: ClassVar[str] = "combine-losses"

    def applied(self, life: Life) -> Life:
        """The life with the one pass."""
        *earlier, last = (each for each in life.passes() if each.id in self.passes)
        roots = tuple(root for each in (*earlier, last) for root in each.roots)
        # A sum has a history if one of its terms has.
        terms = tuple(each for each in roots if each is not None) or roots
        fewer = RemovePass(frozenset(each.id for each in earlier)).applied(life)
        return asking(fewer, {last.id}, lambda each: replace(each, roots=terms))


@dataclass(frozen=True, slots=True)
class RemovePass(Change):
    """These passes are not run."""

    passes: frozenset[int]
    kind: ClassVar[str] = "remove-backward"

    def applied(self, life: Life) -> Life:
        """The life without them."""
        walked = {position: event for position, event in enumerate(life.events) if isinstance(event, Walked)}
        return leaving_out(life, {position for position, event in walked.items() if event.asked.id in self.passes})


@dataclass(frozen=True, slots=True)
class Reorder(Change):
    """The event at one position happens before the one at another."""

    moved: int
    before: int
    kind: ClassVar[str] = "reorder"
    rereads: ClassVar[bool] = True

    def applied(self, life: Life) -> Life:
        """The life in that order."""
        return moving(life, self.moved, self.before)


@dataclass(frozen=True, slots=True)
class ZeroGrad(Change):
    """The gradients of these leaves are cleared before each of these positions."""

    leaves: tuple[int, ...]
    before: frozenset[int]
    kind: ClassVar[str] = "zero-grad"

    def applied(self, life: Life) -> Life:
        """The life with the gradients cleared."""
        return inserting(life, dict.fromkeys(self.before, (Cleared(self.leaves),)))


@dataclass(frozen=True, slots=True)
class Clone(Change):
    """The edits at these positions are made on a copy (or out of place): nobody's saved value changes.

    What came after the edit goes on with the copy.
    """

    edits: frozenset[int]
    kind: ClassVar[str] = "clone"

    def applied(self, life: Life) -> Life:
        """The life with a second storage in the place of every edit."""
        in_place = writes_in_place(life)
        copied = {position - (position in in_place): self._edited(life, position) for position in self.edits}
        fresh = 1 + max((*life.storages, *(op.id for op in life.made()), *(leaf.id for leaf in life.leaves)))
        storages = dict(life.storages)
        copies = Renaming()
        events: list[Event] = []
        for position, event in enumerate(life.events):
            if position in copied:
                storages[fresh] = life.storages.get(copied[position], 0)
                copies.storages[copied[position]] = fresh
                fresh += 1
            if position not in self.edits:
                renamed = copies.event(event)
                events.append(_out_of_place(renamed) if position in copied else renamed)
        return replace(life, events=tuple(events), storages=storages)

    def keeps_values(self, life: Life) -> bool:
        """An edit that was not recorded left the history alone; its copy may have none."""
        return self.edits <= writes_in_place(life).keys()

    def _edited(self, life: Life, position: int) -> int:
        event = life.events[position]
        if not isinstance(event, Edited):
            raise UnforeseeableError(f"event {position} is no edit")
        storage = storage_of(life, event.counter)
        # PyTorch rebuilds a view that saw the edit. On a copy it would see none: the life does not say which it is.
        if any(later > position and result == storage for later, result in views_rebuilt(life).items()):
            raise UnforeseeableError("a view that was made before the edit is used after it")
        return storage


@dataclass(frozen=True, slots=True)
class Recompute(Change):
    """These ops are created again before each of these positions, and what comes after builds on the new ones.

    They read the same tensors without history, and draw the same random numbers.
    """

    ops: frozenset[int]
    before: frozenset[int]
    kind: ClassVar[str] = "recompute"
    rereads: ClassVar[bool] = True

    def applied(self, life: Life) -> Life:
        """The life with the repeated forward."""
        return repeating(life, self.ops, self.before)


class MoveIntoLoop(Recompute):
    """They are made in every iteration of a loop, and not before it: the positions are where its iterations begin."""

    kind = "move-into-loop"

    def applied(self, life: Life) -> Life:
        """The life with the ops inside the loop."""
        return withdrawing(super().applied(life), self.ops)


def _out_of_place(event: Event) -> Event:
    """An op that wrote in place, out of place: its result is saved in the only version it has."""
    if not isinstance(event, Created):
        return event
    return replace(event, op=replace(event.op, saves=tuple(replace(each, written=False) for each in event.op.saves)))
