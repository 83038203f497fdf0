"""Changes that gradsan itself predicts nothing of; the simulator is proved by them too."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from gradsan.lifecycle.events import Cleared, Created, Edited, Event, Held, Life, Walked
from gradsan.lifecycle.fix_changes import Change, Recompute
from gradsan.lifecycle.life_edits import (
    UnforeseeableError,
    asking,
    each_event,
    storage_of,
    views_rebuilt,
    writes_in_place,
)
from gradsan.lifecycle.ops import Op, Port
from gradsan.lifecycle.repetition import Renaming


@dataclass(frozen=True, slots=True)
class Reattach(Change):
    """Edges that a detach had cut are there again: op, place among its inputs, and what it builds on.

    What the op then saves for that gradient is not in the life: bytes, and what is edited or freed, are the least.
    """

    edges: frozenset[tuple[int, int, Port]]

    def applied(self, life: Life) -> Life:
        """The life with these edges."""
        joined = {(op, index): below for op, index, below in self.edges}

        def attached(op: Op) -> Op:
            return replace(op, inputs=tuple(joined.get((op.id, index), each) for index, each in enumerate(op.inputs)))

        return _each_op(life, attached)


@dataclass(frozen=True, slots=True)
class CreateGraph(Change):
    """These passes keep the graph and make one of the gradients too.

    Which ops that makes is known only to a run; here it counts as keeping the graph.
    """

    passes: frozenset[int]

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

    def applied(self, life: Life) -> Life:
        """The life in which they free what they walk, unless they make a graph of the gradients."""
        return asking(life, self.passes, lambda each: replace(each, retain_graph=None))


@dataclass(frozen=True, slots=True)
class Reorder(Change):
    """The event at one position happens before the one at another."""

    moved: int
    before: int
    rereads: ClassVar[bool] = True

    def applied(self, life: Life) -> Life:
        """The life in that order."""
        return _moving(life, self.moved, self.before)


@dataclass(frozen=True, slots=True)
class ZeroGrad(Change):
    """The gradients of these leaves are cleared before each of these positions."""

    leaves: tuple[int, ...]
    before: frozenset[int]

    def applied(self, life: Life) -> Life:
        """The life with the gradients cleared."""
        return _inserting(life, dict.fromkeys(self.before, (Cleared(self.leaves),)))


@dataclass(frozen=True, slots=True)
class Clone(Change):
    """The edits at these positions are made on a copy (or out of place): nobody's saved value changes.

    What came after the edit goes on with the copy.
    """

    edits: frozenset[int]

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


class MoveIntoLoop(Recompute):
    """They are made in every iteration of a loop, and not before it: the positions are where its iterations begin."""

    def applied(self, life: Life) -> Life:
        """The life with the ops inside the loop."""
        return _withdrawing(super().applied(life), self.ops)


def _out_of_place(event: Event) -> Event:
    """An op that wrote in place, out of place: its result is saved in the only version it has."""
    if not isinstance(event, Created):
        return event
    return replace(event, op=replace(event.op, saves=tuple(replace(each, written=False) for each in event.op.saves)))


def _inserting(life: Life, additions: Mapping[int, Iterable[Event]]) -> Life:
    """The life with events put in before these positions."""
    events: list[Event] = []
    for position, event in enumerate(life.events):
        events += additions.get(position, ())
        events.append(event)
    return replace(life, events=(*events, *additions.get(len(life.events), ())))


def _moving(life: Life, moved: int, before: int) -> Life:
    """The life in which one event happens at another time."""
    events = list(life.events)
    event = events.pop(moved)
    events.insert(before if before <= moved else before - 1, event)
    _check_order(life, events)
    return replace(life, events=tuple(events))


def _check_order(life: Life, events: Iterable[Event]) -> None:
    known = {leaf.id for leaf in life.leaves}
    for event in events:
        match event:
            case Created(op):
                needed = {*op.below, *op.keeps}
                known.add(op.id)
            case Walked(asked):
                needed = {each.node for each in (*asked.roots, *(asked.inputs or ())) if each is not None}
            case Held(_, ops):
                needed = set(ops)
            case _:
                needed = set()
        if not needed <= known:
            raise UnforeseeableError(f"nothing can use ops {sorted(needed - known)} before they are made")


def _each_op(life: Life, rewritten: Callable[[Op], Op]) -> Life:
    """The life with every op rewritten."""
    return each_event(
        life, lambda event: replace(event, op=rewritten(event.op)) if isinstance(event, Created) else event
    )


def _withdrawing(life: Life, ops: Collection[int]) -> Life:
    """The life in which these ops are not created, where nothing builds on them; they stay where something does."""
    edits = {position for position, op in writes_in_place(life).items() if op in ops}
    created = {at for at, each in enumerate(life.events) if isinstance(each, Created) and each.op.id in ops}
    if any(_builds_on(event, ops) for at, event in enumerate(life.events) if at not in edits | created):
        return life
    return replace(
        life,
        events=tuple(
            Held(event.holder, tuple(each for each in event.ops if each not in ops))
            if isinstance(event, Held)
            else event
            for position, event in enumerate(life.events)
            if position not in edits | created
        ),
    )


def _builds_on(event: Event, ops: Collection[int]) -> bool:
    match event:
        case Created(op):
            return any(each in ops for each in op.below)
        case Walked(asked):
            return any(each is not None and each.node in ops for each in (*asked.roots, *(asked.inputs or ())))
    return False
