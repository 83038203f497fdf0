"""What a fix does to a life: one change for every kind of fix that the law can foretell."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from gradsan.lifecycle.events import Cleared, Edited, Event, Held, Life, Made, Pass, Walked
from gradsan.lifecycle.ops import Op, Port, Saved

Edge = tuple[int, Port]  # the op that builds on something, and what it builds on


class Change(ABC):
    """One thing changed in a program. Positions are indices into the events of the life it is applied to."""

    kind: ClassVar[str]  # the kind of fix, as reports name it
    keeps_values: ClassVar[bool] = True  # False: the forward computes something else, so gradients cannot be compared

    @abstractmethod
    def applied(self, life: Life) -> Life:
        """The life of the changed program."""


@dataclass(frozen=True, slots=True)
class Detach(Change):
    """Tensors keep their values and lose their history where these edges lead, and in the hands of these holders."""

    edges: frozenset[Edge] = frozenset()
    holders: frozenset[str] = frozenset()
    kind: ClassVar[str] = "detach"

    def applied(self, life: Life) -> Life:
        """The life without these edges."""
        cut = replace(life, events=tuple(map(self._without_edges, life.events)))
        return _without(frozenset(), cut)

    def _without_edges(self, event: Event) -> Event:
        match event:
            case Made(op):
                kept = tuple(None if (op.id, each) in self.edges else each for each in op.inputs)
                return replace(event, op=replace(op, inputs=kept))
            case Held(holder) if holder in self.holders:
                return Held(holder)
        return event


class Item(Detach):
    """A number takes the tensor's place."""

    kind = "item"


class ResetState(Detach):
    """The state begins anew, without history and with other values."""

    kind = "reset-state"
    keeps_values = False


@dataclass(frozen=True, slots=True)
class NoGrad(Change):
    """These ops run under `torch.no_grad()`: they are never made, and what builds on them finds no history."""

    ops: frozenset[int]
    kind: ClassVar[str] = "no-grad"

    def applied(self, life: Life) -> Life:
        """The life without these ops."""
        return _without(self.ops, life)


@dataclass(frozen=True, slots=True)
class Reattach(Change):
    """Edges that a detach had cut are there again: op, place among its inputs, and what it builds on."""

    edges: frozenset[tuple[int, int, Port]]
    kind: ClassVar[str] = "re-attach"

    def applied(self, life: Life) -> Life:
        """The life with these edges."""
        joined = {(op, index): below for op, index, below in self.edges}

        def attached(op: Op) -> Op:
            return replace(op, inputs=tuple(joined.get((op.id, index), each) for index, each in enumerate(op.inputs)))

        return replace(
            life,
            events=tuple(
                replace(event, op=attached(event.op)) if isinstance(event, Made) else event for event in life.events
            ),
        )


@dataclass(frozen=True, slots=True)
class Retain(Change):
    """These passes keep the graph."""

    passes: frozenset[int]
    kind: ClassVar[str] = "retain-graph"

    def applied(self, life: Life) -> Life:
        """The life in which they do."""
        return _asking(life, self.passes, retain_graph=True)


@dataclass(frozen=True, slots=True)
class CreateGraph(Change):
    """These passes keep the graph and make one of the gradients too.

    Which ops that makes is known only to a run; here it counts as keeping the graph.
    """

    passes: frozenset[int]
    kind: ClassVar[str] = "create-graph"
    keeps_values: ClassVar[bool] = False

    def applied(self, life: Life) -> Life:
        """The life in which they do."""
        return _asking(life, self.passes, retain_graph=None, create_graph=True)


@dataclass(frozen=True, slots=True)
class DropRetain(Change):
    """These passes keep nothing."""

    passes: frozenset[int]
    kind: ClassVar[str] = "remove-retain"

    def applied(self, life: Life) -> Life:
        """The life in which they free what they walk."""
        return _asking(life, self.passes, retain_graph=False)


@dataclass(frozen=True, slots=True)
class Combine(Change):
    """One pass over the sum of the losses, in the place of the last of these passes."""

    passes: frozenset[int]
    kind: ClassVar[str] = "combine-losses"

    def applied(self, life: Life) -> Life:
        """The life with the one pass."""
        parts = [each for each in life.passes() if each.id in self.passes]
        roots = tuple(root for each in parts for root in each.roots)
        last = parts[-1]
        fewer = RemovePass(self.passes - {last.id}).applied(life)
        return _asking(fewer, {last.id}, roots=roots)


@dataclass(frozen=True, slots=True)
class RemovePass(Change):
    """These passes are not run."""

    passes: frozenset[int]
    kind: ClassVar[str] = "remove-backward"

    def applied(self, life: Life) -> Life:
        """The life without them."""
        return replace(
            life,
            events=tuple(
                event for event in life.events if not (isinstance(event, Walked) and event.asked.id in self.passes)
            ),
        )


@dataclass(frozen=True, slots=True)
class Reorder(Change):
    """The event at one position happens before the one at another."""

    moved: int
    before: int
    kind: ClassVar[str] = "reorder"

    def applied(self, life: Life) -> Life:
        """The life in that order."""
        events = list(life.events)
        event = events.pop(self.moved)
        events.insert(self.before if self.before <= self.moved else self.before - 1, event)
        return replace(life, events=tuple(events))


@dataclass(frozen=True, slots=True)
class ZeroGrad(Change):
    """The gradients of these leaves are cleared before each of these positions."""

    leaves: tuple[int, ...]
    before: frozenset[int]
    kind: ClassVar[str] = "zero-grad"

    def applied(self, life: Life) -> Life:
        """The life with the gradients cleared."""
        return _inserted(life, dict.fromkeys(self.before, (Cleared(self.leaves),)))


@dataclass(frozen=True, slots=True)
class Clone(Change):
    """The edits at these positions are made on a copy (or out of place): nobody's saved value changes."""

    edits: frozenset[int]
    kind: ClassVar[str] = "clone"

    def applied(self, life: Life) -> Life:
        """The life without these edits."""
        edited = {event.counter for event in map(life.events.__getitem__, self.edits) if isinstance(event, Edited)}
        kept = tuple(event for position, event in enumerate(life.events) if position not in self.edits)

        def copied(op: Op) -> Op:
            return replace(
                op, saves=tuple(replace(each, written=False) if each.edits in edited else each for each in op.saves)
            )

        return replace(
            life,
            events=tuple(replace(event, op=copied(event.op)) if isinstance(event, Made) else event for event in kept),
        )


@dataclass(frozen=True, slots=True)
class Recompute(Change):
    """These ops are made again before each of these positions, and what comes after builds on the new ones."""

    ops: frozenset[int]
    before: frozenset[int]
    kind: ClassVar[str] = "recompute"

    def applied(self, life: Life) -> Life:
        """The life with the repeated forward."""
        template = [op for op in life.made() if op.id in self.ops]
        fresh = 1 + max(_numbers(life), default=0)
        storages = dict(life.storages)
        events: list[Event] = []
        now: dict[int, int] = {}
        for position, event in enumerate(life.events):
            if position in self.before:
                now, repeats, fresh = _repeated(template, fresh, storages)
                events += repeats
            events.append(_renamed(event, now))
        return replace(life, events=tuple(events), storages=storages)


class MoveIntoLoop(Recompute):
    """The same, in every round of a loop: the positions are where its rounds begin."""

    kind = "move-into-loop"


def _asking(life: Life, passes: Iterable[int], **how: object) -> Life:
    def asked(each: Pass) -> Pass:
        return replace(each, **how) if each.id in passes else each  # type: ignore[arg-type]  # field names are ours

    return replace(
        life,
        events=tuple(Walked(asked(event.asked)) if isinstance(event, Walked) else event for event in life.events),
    )


def _without(gone: frozenset[int], life: Life) -> Life:
    """The life in which these ops are not made, nor any op that is left without inputs by that."""
    lost = set(gone)
    events: list[Event] = []
    for event in life.events:
        match event:
            case Made(op):
                kept = _kept(op.inputs, lost)
                if op.id in lost or not any(each is not None for each in kept):
                    lost.add(op.id)
                    continue
                events.append(replace(event, op=replace(op, inputs=kept, saves=tuple(_still_saved(op, kept)))))
            case Walked(asked):
                roots = _kept(asked.roots, lost)
                inputs = asked.inputs and _kept(asked.inputs, lost)
                events.append(Walked(replace(asked, roots=roots, inputs=inputs)))
            case Held(holder, ops):
                events.append(Held(holder, tuple(each for each in ops if each not in lost)))
            case _:
                events.append(event)
    return replace(life, events=tuple(events))


def _kept(ports: tuple[Port | None, ...], lost: Collection[int]) -> tuple[Port | None, ...]:
    return tuple(None if each is None or each.node in lost else each for each in ports)


def _still_saved(op: Op, kept: tuple[Port | None, ...]) -> Iterator[Saved]:
    return (each for each in op.saves if each.needed_for is None or kept[each.needed_for] is not None)


def _inserted(life: Life, additions: Mapping[int, tuple[Event, ...]]) -> Life:
    events: list[Event] = []
    for position, event in enumerate(life.events):
        events += additions.get(position, ())
        events.append(event)
    return replace(life, events=tuple(events))


def _numbers(life: Life) -> Iterator[int]:
    yield from (leaf.id for leaf in life.leaves)
    yield from (op.id for op in life.made())
    yield from life.storages


def _repeated(template: Iterable[Op], fresh: int, storages: dict[int, int]) -> tuple[dict[int, int], list[Made], int]:
    """The ops once more, under fresh numbers, with results of their own."""
    now: dict[int, int] = {}
    results: dict[int, int] = {}
    repeats = []
    for op in template:
        now[op.id] = fresh
        if op.result is not None:
            results[op.result] = fresh
            storages[fresh] = storages.get(op.result, 0)
        saves = tuple(
            replace(each, storage=results.get(each.storage, each.storage), counter=_counter(each, results))
            for each in op.saves
        )
        inputs = tuple(_moved(each, now) for each in op.inputs)
        repeat = replace(op, id=fresh, inputs=inputs, saves=saves, result=results.get(op.result or 0, op.result))
        repeats.append(Made(repeat, origin=op.id))
        fresh += 1
    return now, repeats, fresh


def _counter(saved: Saved, results: Mapping[int, int]) -> int | None:
    # A value that was made anew has a counter of its own.
    return None if saved.storage in results else saved.counter


def _renamed(event: Event, now: Mapping[int, int]) -> Event:
    """The event as it stands when these ops have been made again."""
    if not now:
        return event

    def renamed(each: Port | None) -> Port | None:
        return _moved(each, now)

    match event:
        case Made(op) if op.id not in now:
            return replace(event, op=replace(op, inputs=tuple(map(renamed, op.inputs))))
        case Walked(asked):
            inputs = asked.inputs and tuple(map(renamed, asked.inputs))
            return Walked(replace(asked, roots=tuple(map(renamed, asked.roots)), inputs=inputs))
        case Held(holder, ops):
            return Held(holder, tuple(now.get(each, each) for each in ops))
    return event


def _moved(port: Port | None, now: Mapping[int, int]) -> Port | None:
    return None if port is None else Port(now.get(port.node, port.node), port.output)
