"""How one life is written from another: events left out, put in, moved, and asked otherwise."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from gradsan.lifecycle.events import Created, Edited, Event, Held, Life, Pass, Walked
from gradsan.lifecycle.ops import Op, Port, Saved


class UnforeseeableError(ValueError):
    """What a change does to this life cannot be known from the life."""


Edge = tuple[int, Port]  # the op that builds on something, and what it builds on


def each_event(life: Life, rewritten: Callable[[Event], Event]) -> Life:
    """The life with every event rewritten."""
    return replace(life, events=tuple(map(rewritten, life.events)))


def asking(life: Life, passes: Collection[int], rewritten: Callable[[Pass], Pass]) -> Life:
    """The life in which these passes are asked for otherwise."""
    unknown = set(passes) - {each.id for each in life.passes()}
    if unknown:
        raise UnforeseeableError(f"the life has no passes {sorted(unknown)}")

    def asked(event: Event) -> Event:
        return Walked(rewritten(event.asked)) if isinstance(event, Walked) and event.asked.id in passes else event

    return each_event(life, asked)


def leaving_out(life: Life, positions: Collection[int]) -> Life:
    """The life without the events at these positions."""
    kept = (event for position, event in enumerate(life.events) if position not in positions)
    return replace(life, events=tuple(kept))


def cutting(life: Life, edges: Collection[Edge] = (), ops: Collection[int] = ()) -> Life:
    """The life without these edges and ops, and without the ops that are left with no input by that."""
    knife = _Knife(edges, {op.id: op.result for op in life.made()}, set(ops))
    events = _in_time(knife.cut(life.events))
    views = views_rebuilt(life).values()
    if any(op.id in knife.gone and op.result in views and _is_view(op, life) for op in life.made()):
        raise UnforeseeableError("a view without history is edited later, and it cannot be told what becomes of it")
    return replace(life, events=tuple(events))


def views_rebuilt(life: Life) -> dict[int, int | None]:
    """Where views get a new history because their storage was edited: the positions, and the storages."""
    return {
        position: event.op.result
        for position, event in enumerate(life.events)
        if isinstance(event, Created) and event.op.name == "AsStridedBackward0"
    }


def writes_in_place(life: Life) -> dict[int, int]:
    """The ops that write in place: the position of their edit, and the op."""
    return {
        position: made.op.id
        for position, (made, edit) in enumerate(pairwise(life.events), start=1)
        if isinstance(made, Created) and isinstance(edit, Edited) and made.op.result == storage_of(life, edit.counter)
    }


def storage_of(life: Life, counter: int) -> int:
    """The storage whose edits the counter counts, as far as the life says."""
    if counter in life.storages:
        return counter
    places = {each.edits: each.storage for op in life.made() for each in op.saves}
    places |= {leaf.edits: leaf.storage for leaf in life.leaves}
    return places.get(counter, counter)


@dataclass
class _Knife:
    """Cuts edges, and what hangs on nothing else."""

    edges: Collection[Edge]
    results: Mapping[int, int | None]
    gone: set[int]
    # By op: the storages of saved tensors that have no history any more.
    severed: dict[int | str, set[int | None]] = field(default_factory=dict)

    def cut(self, events: Iterable[Event]) -> Iterator[Event | None]:
        """The events that are left, and None where an op is not created."""
        for event in events:
            match event:
                case Created(op):
                    left = self._left_of(op)
                    yield None if left is None else replace(event, op=left)
                case Walked(asked):
                    inputs = asked.inputs and self._kept(asked.inputs)
                    yield Walked(replace(asked, roots=self._kept(asked.roots), inputs=inputs))
                case Held(holder, ops):
                    yield Held(holder, self._still_held(holder, ops))
                case _:
                    yield event

    def _left_of(self, op: Op) -> Op | None:
        cut = (None if (op.id, each) in self.edges else each for each in op.inputs)
        inputs = self._kept(tuple(cut))
        if op.id in self.gone or (inputs != op.inputs and not any(inputs)):
            self.gone.add(op.id)
            return None
        self.severed[op.id] = self._storages(op.inputs) - self._storages(inputs)
        saves = tuple(_still_saved(op.saves, inputs))
        return replace(op, inputs=inputs, saves=saves, keeps=self._still_held(op.id, op.keeps))

    def _kept(self, ports: tuple[Port | None, ...]) -> tuple[Port | None, ...]:
        return tuple(None if each is None or each.node in self.gone else each for each in ports)

    def _storages(self, ports: tuple[Port | None, ...]) -> set[int | None]:
        return {self.results.get(each.node) for each in ports if each is not None} - {None}

    def _still_held(self, holder: int | str, ops: tuple[int, ...]) -> tuple[int, ...]:
        # A view holds its base; one without history holds a base without history.
        severed = self.severed.get(holder, {self.results.get(each) for each in ops if each in self.gone} - {None})
        return tuple(each for each in ops if each not in self.gone and self.results.get(each) not in severed)


def _in_time(events: Iterable[Event | None]) -> list[Event]:
    """The events without the gaps. An op that was numbered after the op that is gone has no more to wait for."""
    kept: list[Event] = []
    for event in events:
        if event is not None:
            kept.append(event)
            continue
        for position in range(len(kept) - 1, -1, -1):
            earlier = kept[position]
            if isinstance(earlier, Created) and not earlier.late:
                break
            if isinstance(earlier, Created):
                kept[position] = replace(earlier, late=False)
    return kept


def _is_view(op: Op, life: Life) -> bool:
    storages = {each.id: each.result for each in life.made()} | {leaf.id: leaf.storage for leaf in life.leaves}
    return op.result in {storages.get(each) for each in op.below}


def _still_saved(saves: tuple[Saved, ...], inputs: tuple[Port | None, ...]) -> Iterator[Saved]:
    return (each for each in saves if each.needed_for is None or inputs[each.needed_for] is not None)
