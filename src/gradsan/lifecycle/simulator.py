"""Plays a life from its facts: what raises, where, what stays in memory, who receives which gradient."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from statistics import median_low

from gradsan.lifecycle.changes import Change
from gradsan.lifecycle.engine import PRIME, Failure, Walk, World, walk
from gradsan.lifecycle.events import Cleared, Edited, Event, Held, Life, Made, Pass, Stepped, Walked
from gradsan.lifecycle.memory import Memory
from gradsan.lifecycle.ops import Leaf, Op


@dataclass(frozen=True, slots=True)
class Kept:
    """What is in memory at one moment."""

    live: frozenset[int]  # ops that are still there
    saving: frozenset[int]  # those of them that still have their saved values
    saved_bytes: int  # of saved values; parameters do not count


@dataclass(frozen=True, slots=True)
class Update:
    """One step of an optimizer, with the gradients that its leaves had then (as numbers that stand for them)."""

    optimizer: str
    gradients: Mapping[int, int]
    saved_bytes: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a life comes to."""

    walks: tuple[Walk, ...]
    kept: tuple[Kept, ...]  # after each walk
    updates: tuple[Update, ...]
    gradients: Mapping[int, int]  # of each leaf that has one, at the end
    left: Kept  # at the end
    peak_saved_bytes: int

    @property
    def failed(self) -> Walk | None:
        """The first pass that raised."""
        return next((each for each in self.walks if each.failure), None)

    @property
    def growth(self) -> int:
        """Bytes of saved values that every step leaves behind beyond those of the step before."""
        return _growth([each.saved_bytes for each in self.updates] or [each.saved_bytes for each in self.kept])

    @property
    def walk_growth(self) -> int:
        """Ops that every pass walks beyond those of the pass before it from the same line."""
        lengths = defaultdict(list)
        for each in self.walks:
            lengths[each.asked.site].append(len(each.executed))
        return max((_growth(each) for each in lengths.values()), default=0)


@dataclass(frozen=True, slots=True)
class Consequences:
    """What a change does to a program, beside what the program meant to do."""

    failure: Failure | None
    failing_pass: Pass | None
    peak_saved_bytes: int
    growth: int  # bytes a step
    walk_growth: int  # ops a pass
    lost: tuple[str, ...]  # leaves that receive no gradient any more
    # Leaves that receive another gradient; None: not to be told, because what the program meant is undefined (it
    # differentiates through values that were overwritten).
    changed: tuple[str, ...] | None

    @property
    def same_gradients(self) -> bool:
        """Whether every leaf provably receives what the program meant it to receive."""
        return not self.lost and self.changed == ()


def play(life: Life, *, caught: bool = False, lenient: bool = False) -> Outcome:
    """The outcome of a life.

    It ends with the first pass that raises; if `caught`, it goes on as a program that catches the error. A lenient play
    never raises: it tells what the program meant.
    """
    stage = _Stage(life, lenient=lenient)
    for event in life.events:
        stage.meet(event)
        if stage.walks and stage.walks[-1].failure and not caught:
            break
    return stage.outcome()


def replay(life: Life, change: Change) -> Consequences:
    """What would have happened with one thing changed."""
    outcome = play(change.applied(life))
    meant, means = play(life, lenient=True), play(change.applied(life), lenient=True)
    names = {leaf.id: leaf.name for leaf in life.leaves}
    lost, differs = _compare(meant, means)
    defined = change.keeps_values and play(_retaining_all(life)).failed is None
    return Consequences(
        failure=outcome.failed.failure if outcome.failed else None,
        failing_pass=outcome.failed.asked if outcome.failed else None,
        peak_saved_bytes=outcome.peak_saved_bytes,
        growth=outcome.growth,
        walk_growth=outcome.walk_growth,
        lost=tuple(names[leaf] for leaf in lost),
        changed=tuple(names[leaf] for leaf in differs) if defined else None,
    )


@dataclass
class _Stage:
    """The state of a life in play."""

    life: Life
    lenient: bool
    walks: list[Walk] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._leaves: dict[int, Leaf] = {leaf.id: leaf for leaf in self.life.leaves}
        self._ops: dict[int, Op] = {}
        self._order = {op.id: number for number, op in enumerate(self.life.numbered())}
        self._freed: set[int] = set()
        self._versions: Counter[int] = Counter()
        self._saved_at: dict[int, list[int]] = {}
        self._derivative: dict[int, int] = {}
        self._reads: dict[int, tuple[int, ...]] = {}
        self._gradients: dict[int, int] = {}
        self._memory = Memory(self.life.leaves, self.life.storages)
        self._last_use = dict(_uses(self.life))
        self._time = 0
        self._hands: defaultdict[int, list[int]] = defaultdict(list)
        self._kept: list[Kept] = []
        self._updates: list[Update] = []
        self._peak = 0

    def meet(self, event: Event) -> None:
        match event:
            case Made(op, origin):
                self._make(op, origin)
            case Walked(asked):
                self._walk(asked)
            case Edited(counter):
                self._versions[counter] += 1
            case Stepped(optimizer, leaves):
                self._step(optimizer, leaves)
            case Cleared(leaves, to_none):
                for leaf in leaves:
                    if to_none:
                        self._gradients.pop(leaf, None)
                    elif leaf in self._gradients:
                        self._gradients[leaf] = 0
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
            gradients=dict(self._gradients),
            left=self._keeps(),
            peak_saved_bytes=self._peak,
        )

    def _keeps(self) -> Kept:
        return Kept(self._memory.live, self._memory.saving, self._memory.saved_bytes)

    def _make(self, op: Op, origin: int | None) -> None:
        self._ops[op.id] = op
        self._saved_at[op.id] = [self._versions[each.edits] + each.written for each in op.saves]
        self._reads[op.id] = self._values_read(op)
        # An op that repeats another has the same derivative, unless it read other values than that one did.
        repeats = origin is not None and self._reads[op.id] == self._reads[origin]
        self._derivative[op.id] = self._derivative[origin] if repeats and origin is not None else op.id
        self._memory.add(op)
        self._hands[self._last_use.get(op.id, self._time)].append(op.id)
        self._peak = max(self._peak, self._memory.saved_bytes)

    def _values_read(self, op: Op) -> tuple[int, ...]:
        """What the op's output depends on: the versions of its leaves, and the ops before it."""
        read = []
        for each in op.below:
            if each in self._leaves:
                read.append(self._versions[self._leaves[each].edits])
            else:
                read.append(self._derivative[each])
        read += [self._versions[each.edits] for each in op.saves if each.storage != op.result]
        return tuple(read)

    def _walk(self, asked: Pass) -> None:
        edited = {each for each, op in self._ops.items() if self._is_edited(op)}
        world = World(self._ops, self._leaves, self._order, self._freed, edited, self._derivative)
        walked = walk(asked, world, lenient=self.lenient)
        self.walks.append(walked)
        if walked.failure != Failure("no-history"):
            self._memory.hold("the engine's queue", walked.left)
        for each in walked.frees:
            self._freed.add(each)
            self._memory.free(each)
        if asked.accumulates:
            for (node, _), gradient in walked.received.items():
                if node in self._leaves:
                    self._gradients[node] = (self._gradients.get(node, 0) + gradient) % PRIME

    def _is_edited(self, op: Op) -> bool:
        return any(
            version != self._versions[each.edits] for each, version in zip(op.saves, self._saved_at[op.id], strict=True)
        )

    def _step(self, optimizer: str, leaves: tuple[int, ...]) -> None:
        own = {leaf: self._gradients[leaf] for leaf in leaves if leaf in self._gradients}
        for leaf in own:
            self._versions[self._leaves[leaf].edits] += 1
        self._updates.append(Update(optimizer, own, self._memory.saved_bytes))


def _uses(life: Life) -> Iterator[tuple[int, int]]:
    """For every op the last event that names it: until then the program has it in its hand."""
    for time, event in enumerate(life.events):
        match event:
            case Made(op):
                named: tuple[int, ...] = (op.id, *op.below)
            case Walked(asked):
                named = tuple(port.node for port in (*asked.roots, *(asked.inputs or ())) if port is not None)
            case Held(_, ops):
                named = ops
            case _:
                named = ()
        yield from ((each, time) for each in named)


def _retaining_all(life: Life) -> Life:
    """The reference: the same program with every graph kept."""
    events = tuple(
        Walked(replace(event.asked, retain_graph=True)) if isinstance(event, Walked) else event for event in life.events
    )
    return replace(life, events=events)


def _compare(meant: Outcome, means: Outcome) -> tuple[list[int], list[int]]:
    """The leaves that lose their gradient, and those that get another: at their optimizer's steps, else at the end."""
    moments = list(zip(_moments(meant), _moments(means), strict=False))
    leaves = sorted(
        {leaf for before, _ in moments for leaf in before} | {leaf for _, after in moments for leaf in after}
    )
    lost = [leaf for leaf in leaves if _has(leaf, moments, 0) and not _has(leaf, moments, 1)]
    differs = [
        leaf
        for leaf in leaves
        if leaf not in lost and any(before.get(leaf) != after.get(leaf) for before, after in moments)
    ]
    return lost, differs


def _moments(outcome: Outcome) -> list[Mapping[int, int]]:
    return [each.gradients for each in outcome.updates] or [outcome.gradients]


def _has(leaf: int, moments: list[tuple[Mapping[int, int], Mapping[int, int]]], side: int) -> bool:
    return any(leaf in moment[side] for moment in moments)


def _growth(amounts: list[int]) -> int:
    """The usual rise from one amount to the next; 0 where there are too few to tell."""
    rises = [later - earlier for earlier, later in zip(amounts, amounts[1:], strict=False)]
    return median_low(rises) if len(rises) > 1 else 0
