"""Plays a life from its facts: what raises, where, what stays in memory, who receives which gradient."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gradsan.lifecycle.engine import Failure, Walk, World, walk
from gradsan.lifecycle.events import Cleared, Created, Edited, Event, Held, Life, Pass, Stepped, Walked
from gradsan.lifecycle.fix_changes import Change
from gradsan.lifecycle.leaf_gradients import Gradients, differing, given, having
from gradsan.lifecycle.memory import Memory
from gradsan.lifecycle.ops import Leaf, Op
from gradsan.lifecycle.outcome import Kept, Outcome, Update
from gradsan.lifecycle.value_numbers import Values

__all__ = ["Consequences", "Kept", "Outcome", "Update", "play", "replay"]


@dataclass(frozen=True, slots=True)
class Consequences:
    """What a change does to a program, beside what the program meant to do."""

    failure: Failure | None
    failing_pass: Pass | None
    peak_saved_bytes: int
    left_saved_bytes: int  # when all is over
    walked: int  # ops, by the last pass
    lost: tuple[str, ...]  # leaves that receive no gradient any more
    # Leaves that receive another gradient, at first hand: not because an earlier update was another. None: it cannot be
    # known, because the program differentiates through values that were overwritten, with or without the change;
    # because the forward may compute other values; or because the program is handed other gradients to compute with.
    changed: tuple[str, ...] | None


def play(life: Life, *, caught: bool = False, lenient: bool = False) -> Outcome:
    """The outcome of a life.

    It ends with the first pass that raises; if `caught`, it goes on as a program that catches the error. A lenient play
    walks what PyTorch refuses to walk: it says what the program meant.
    """
    return _play(_Stage(life, lenient=lenient), caught=caught or lenient)


def replay(life: Life, change: Change) -> Consequences:
    """What would have happened with one thing changed."""
    changed = change.applied(life)
    outcome = play(changed)
    names = {leaf.id: leaf.name for leaf in life.leaves}
    lost, differs = _compared(life, changed, rereads=change.rereads)
    reported = change.keeps_values(life) and _is_defined(life) and _is_defined(changed)
    return Consequences(
        failure=outcome.failed.failure if outcome.failed else None,
        failing_pass=outcome.failed.asked if outcome.failed else None,
        peak_saved_bytes=outcome.peak_saved_bytes,
        left_saved_bytes=outcome.left.saved_bytes,
        walked=len(outcome.walks[-1].executed) if outcome.walks else 0,
        lost=tuple(names[leaf] for leaf in lost),
        changed=tuple(names[leaf] for leaf in differs) if reported and differs is not None else None,
    )


def _play(stage: "_Stage", *, caught: bool) -> Outcome:
    for event in stage.life.events:
        stage.meet(event)
        if stage.walks and stage.walks[-1].failure and not caught:
            break
    return stage.outcome()


def _compared(life: Life, changed: Life, *, rereads: bool) -> tuple[list[int], list[int] | None]:
    """The leaves that lose their gradient, and those that get another; None: it cannot be known."""
    meant, means = (_meaning(each, Values(each) if rereads else None) for each in (life, changed))
    lost = sorted(having(meant.uses, meant.walks) - having(means.uses, means.walks))
    differs = differing(meant.uses, means.uses)
    if given(meant.walks, meant.uses) != given(means.walks, meant.uses):
        return lost, None
    if rereads and differs != differing(*(_meaning(each, Values(each, wary=True)).uses for each in (life, changed))):
        return lost, None
    return lost, [leaf for leaf in differs if leaf not in lost]


def _meaning(life: Life, values: Values | None) -> Outcome:
    return _play(_Stage(life, values, lenient=True), caught=True)


def _is_defined(life: Life) -> bool:
    """Whether PyTorch has an answer to every gradient that is asked for, once all graphs are kept."""
    events = tuple(
        Walked(replace(event.asked, retain_graph=True)) if isinstance(event, Walked) else event for event in life.events
    )
    return play(replace(life, events=events)).failed is None


class _Stage:
    """The state of a life in play."""

    def __init__(self, life: Life, values: Values | None = None, *, lenient: bool) -> None:
        self.life = life
        self.walks: list[Walk] = []
        self._lenient = lenient
        self._leaves: dict[int, Leaf] = {leaf.id: leaf for leaf in life.leaves}
        self._ops: dict[int, Op] = {}
        self._order = {op.id: number for number, op in enumerate(life.numbered())}
        self._freed: set[int] = set()
        self._versions: Counter[int] = Counter()
        self._saved_at: dict[int, list[int]] = {}
        self._values = values  # None: every op has the derivative it has
        self._derivative: dict[int, Sequence[int]] = {}
        self._gradients = Gradients(life.leaves)
        self._memory = Memory(life.leaves, life.storages)
        self._last_use = dict(_uses(life))
        self._time = 0
        self._hands: defaultdict[int, list[int]] = defaultdict(list)
        self._kept: list[Kept] = []
        self._updates: list[Update] = []
        self._peak = 0

    def meet(self, event: Event) -> None:
        match event:
            case Created(op, origin):
                self._make(op, origin)
            case Walked(asked):
                self._walk(asked)
            case Edited(counter):
                self._versions[counter] += 1
                self._gradients.edit(counter)
                if self._values:
                    self._values.edit(counter)
            case Stepped(optimizer, leaves):
                self._step(optimizer, leaves)
            case Cleared(leaves, to_none):
                self._gradients.clear(leaves, to_none=to_none)
            case Held(holder, ops):
                self._memory.hold(holder, ops)
        for each in self._hands.pop(self._time, ()):
            self._memory.let_go(each)
        self._time += 1
        if isinstance(event, Walked):
            self._kept.append(self._keeps())

    def outcome(self) -> Outcome:
        return Outcome(
            walks=tuple(self.walks),
            kept=tuple(self._kept),
            updates=tuple(self._updates),
            gradients=dict(self._gradients.current),
            uses=self._gradients.uses(),
            left=self._keeps(),
            peak_saved_bytes=self._peak,
        )

    def _keeps(self) -> Kept:
        return Kept(self._memory.live, self._memory.saving, self._memory.saved_bytes)

    def _make(self, op: Op, origin: int | None) -> None:
        self._ops[op.id] = op
        self._saved_at[op.id] = [self._versions[each.edits] + each.written for each in op.saves]
        self._derivative[op.id] = self._values.make(op, origin) if self._values else [op.id] * len(op.inputs)
        self._memory.add(op)
        self._hands[self._last_use.get(op.id, self._time)].append(op.id)
        self._peak = max(self._peak, self._memory.saved_bytes)

    def _walk(self, asked: Pass) -> None:
        edited = {each for each, op in self._ops.items() if self._is_edited(op)}
        world = World(self._ops, self._leaves, self._order, self._freed, edited, self._derivative)
        walked = walk(asked, world, lenient=self._lenient)
        self.walks.append(walked)
        if walked.failure != Failure("no-history"):
            self._memory.hold("the engine's queue", walked.left)
        for each in walked.frees:
            self._freed.add(each)
            self._memory.free(each)
        self._gradients.receive(walked)

    def _is_edited(self, op: Op) -> bool:
        return any(
            version != self._versions[each.edits] for each, version in zip(op.saves, self._saved_at[op.id], strict=True)
        )

    def _step(self, optimizer: str, leaves: tuple[int, ...]) -> None:
        own = self._gradients.step(leaves)
        for leaf in own:
            self._versions[self._leaves[leaf].edits] += 1
        if self._values:
            self._values.step(own)
        self._updates.append(Update(optimizer, own, self._memory.saved_bytes))


def _uses(life: Life) -> Iterator[tuple[int, int]]:
    """For every op the last event that names it: until then the program has it in its hand."""
    for time, event in enumerate(life.events):
        match event:
            case Created(op):
                named: tuple[int, ...] = (op.id, *op.below)
            case Walked(asked):
                named = tuple(port.node for port in (*asked.roots, *(asked.inputs or ())) if port is not None)
            case Held(_, ops):
                named = ops
            case _:
                named = ()
        yield from ((each, time) for each in named)
