"""A part of a life once more: the same ops, made again, on storages of their own."""

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from gradsan.lifecycle.events import Created, Edited, Event, Held, Life, Walked
from gradsan.lifecycle.life_edits import UnforeseeableError, storage_of, writes_in_place
from gradsan.lifecycle.ops import Op, Port, Saved


@dataclass
class Renaming:
    """What goes by another number from now on."""

    nodes: dict[int, int] = field(default_factory=dict)
    storages: dict[int, int] = field(default_factory=dict)  # of values, and of the counters of their edits

    def event(self, event: Event) -> Event:
        """The event under the new numbers."""
        match event:
            case Created(op):
                return replace(event, op=self.op(op))
            case Walked(asked):
                inputs = asked.inputs and self._ports(asked.inputs)
                return Walked(replace(asked, roots=self._ports(asked.roots), inputs=inputs))
            case Held(holder, ops):
                return Held(holder, self.ops(ops))
            case Edited(counter):
                return replace(event, counter=self.storages.get(counter, counter))
        return event

    def op(self, op: Op) -> Op:
        """The op under the new numbers: what it builds on, saves, holds and writes."""
        return replace(
            op,
            id=self.nodes.get(op.id, op.id),
            inputs=self._ports(op.inputs),
            saves=tuple(map(self._saved, op.saves)),
            keeps=self.ops(op.keeps),
            result=None if op.result is None else self.storages.get(op.result, op.result),
        )

    def ops(self, ops: tuple[int, ...]) -> tuple[int, ...]:
        """Ops under their new numbers."""
        return tuple(self.nodes.get(each, each) for each in ops)

    def _ports(self, ports: tuple[Port | None, ...]) -> tuple[Port | None, ...]:
        return tuple(each and Port(self.nodes.get(each.node, each.node), each.output) for each in ports)

    def _saved(self, saved: Saved) -> Saved:
        if saved.storage not in self.storages:
            return saved
        # A value that was created again counts its edits itself.
        return replace(saved, storage=self.storages[saved.storage], counter=None)


def repeating(life: Life, ops: Collection[int], before: Collection[int]) -> Life:
    """The life in which these ops are created again before each of these positions, and used from then on.

    Names that held the old ones hold the new ones.
    """
    template = _Template(life, ops)
    if before and min(before) <= template.last:
        raise UnforeseeableError("ops cannot be made again before they are made")
    if any(template.leaves_behind(event) for event in life.events[: max(before, default=0)]):
        raise UnforeseeableError("a view or an edit of what is made again is not made again itself")
    events: list[Event] = []
    renaming = Renaming()
    held: dict[int | str, tuple[int, ...]] = {}
    for position, event in enumerate(life.events):
        if position in before:
            renaming = template.renaming()
            events += template.repeated(renaming)
            events += (
                Held(name, renaming.ops(kept))
                for name, kept in held.items()
                if not renaming.nodes.keys().isdisjoint(kept)
            )
        if isinstance(event, Held) and isinstance(event.holder, str):
            held[event.holder] = event.ops
        events.append(renaming.event(event))
    return replace(life, events=tuple(events), storages=template.storages)


class _Template:
    """The events that make some ops, and how to write them again."""

    def __init__(self, life: Life, ops: Collection[int]) -> None:
        edits = {position: op for position, op in writes_in_place(life).items() if op in ops}
        self._events = {
            position: event
            for position, event in enumerate(life.events)
            if position in edits or (isinstance(event, Created) and event.op.id in ops)
        }
        self._own = _created_by(life, ops)
        if {
            storage_of(life, event.counter) for event in self._events.values() if isinstance(event, Edited)
        } - self._own:
            raise UnforeseeableError("an edit in place cannot be made again, where what it edits is not made again")
        self._fresh = itertools.count(1 + max(_numbers(life), default=0))
        self.storages = dict(life.storages)

    @property
    def last(self) -> int:
        return max(self._events, default=-1)

    def leaves_behind(self, event: Event) -> bool:
        """Whether it makes a view of a repeated value, or writes into it, and is no part of the repetition."""
        return isinstance(event, Created) and event.op.result in self._own and event not in self._events.values()

    def renaming(self) -> Renaming:
        """New numbers for the ops, and for the storages that they themselves make."""
        nodes = {event.op.id: next(self._fresh) for event in self._events.values() if isinstance(event, Created)}
        storages = {each: next(self._fresh) for each in sorted(self._own)}
        self.storages |= {new: self.storages.get(old, 0) for old, new in storages.items()}
        return Renaming(nodes, storages)

    def repeated(self, renaming: Renaming) -> Iterator[Event]:
        for event in self._events.values():
            again = renaming.event(event)
            yield (
                replace(again, origin=event.op.id)
                if isinstance(event, Created) and isinstance(again, Created)
                else again
            )


def _created_by(life: Life, ops: Collection[int]) -> set[int]:
    """The storages that these ops make: not those of which they are views, or into which they write."""
    in_place = set(writes_in_place(life).values())
    creators: dict[int, int] = {}
    for op in life.made():
        if op.result is not None:
            creators.setdefault(op.result, op.id)
    taken = {leaf.storage for leaf in life.leaves}
    return {
        storage
        for storage, creator in creators.items()
        if creator in ops and creator not in in_place and storage not in taken
    }


def _numbers(life: Life) -> Iterator[int]:
    yield from (leaf.id for leaf in life.leaves)
    yield from (op.id for op in life.made())
    yield from (each.edits for op in life.made() for each in op.saves)
    yield from (event.counter for event in life.events if isinstance(event, Edited))
    yield from life.storages
