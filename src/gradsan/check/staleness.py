"""Passes that walk ops again after a parameter below them was changed: values that are old by then."""

from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.check.graph import LIKELY, SURE, Change, Label, LoopRun, Op, Pass, label_for
from gradsan.check.moments import parting
from gradsan.check.old_part import OldPart
from gradsan.check.troubles import OldValue, Regrown, SecondWalk
from gradsan.check.walking import Reached, reach
from gradsan.check.world import World
from gradsan.knowledge.tensors import operation


@dataclass(frozen=True, slots=True)
class Aged:
    """A pass, and the newest old op that it walks again."""

    later: Pass
    change: Change  # of a leaf below it, since an earlier pass walked it
    part: OldPart

    @property
    def label(self) -> Label | None:
        """The name that leads to it."""
        reached = self.part.found[self.part.op]
        return reached.label or label_for(self.later.label if reached.edge is None else self.part.op.called)

    @property
    def is_created_in_loop(self) -> bool:
        """Whether an earlier iteration of a loop that is running created it."""
        return parting(self.part.op.moment, self.later.moment) is not None

    @property
    def doubt(self) -> int:
        """Likely where it was created in a branch that was only assumed to be taken: all of the path hangs on that."""
        return LIKELY if self.part.op.guarded else SURE


def aged(world: World) -> Iterator[Aged]:
    """All passes of a path that walk old ops, and did not fail."""
    failing = {id(getattr(each, "failing", None)) for each in world.troubles}
    for done in world.passes:
        before = {op: each for op in done.ops if (each := _earlier(op, done)) is not None}
        if before and id(done) not in failing and not done.guarded:
            yield from _newest(done, before, world)


def grown(world: World) -> Iterator[Regrown]:
    """Passes over what the same line has walked before the parameters changed, where nothing else explains it."""
    explained = [each.failing for each in world.troubles if isinstance(each, SecondWalk | OldValue)]
    explained += [each.later for each in aged(world)]
    for each in world.regrown:
        is_old = world.changed_between(each.earlier, each.later) and each.later not in explained
        if is_old and each.doubt <= LIKELY and each.earlier.retains:
            yield each


def _earlier(op: Op, done: Pass) -> Pass | None:
    """The first pass that the same calls asked for in an earlier iteration, and that walked the op."""
    before = (each for each in op.walked if each.number < done.number)
    return next((each for each in before if each.site.path == done.site.path and _iteration(each, done)), None)


def _iteration(earlier: Pass, later: Pass) -> tuple[LoopRun, int] | None:
    """The loop that has come to another iteration from one pass to the other, and that iteration."""
    found = parting(earlier.moment, later.moment)
    return None if found is None or found.run.imagined else (found.run, found.now)


def _newest(done: Pass, before: dict[Op, Pass], world: World) -> Iterator[Aged]:
    found, changes = reach(done.roots), _changes(done)
    old = {op for op, earlier in before.items() if op in changes and changes[op].number > earlier.number}
    entries = [op for op in old if op in found and found[op].parent not in old]
    newest = max(entries, key=lambda each: each.number, default=None)
    if newest is not None and _is_sure(newest, found[newest]) and not _is_carried(newest, before[newest], done, world):
        old_value = Aged(done, changes[newest], OldPart(done.roots, newest, frozenset(old), found))
        if not (newest.guarded and old_value.is_created_in_loop):  # who creates it at times may create it again in time
            yield old_value


def _is_sure(op: Op, how: Reached) -> bool:
    return not (how.doubt or op.doubt or op.healed)


def _is_carried(op: Op, before: Pass, done: Pass, world: World) -> bool:
    """Whether the present iteration creates it again: it is carried from iteration to iteration."""
    iteration = _iteration(before, done)
    return any(iteration in moment for moment in world.created_at.get(id(op.site.node), ()))


def _changes(done: Pass) -> dict[Op, Change]:
    """For each op that does not follow its parameters, the latest change of one below it, before a pass."""
    latest: dict[Op, Change] = {}
    following: set[Op] = set()
    for op in sorted(done.ops, key=lambda each: each.number):
        below = {edge.op for edge in op.edges}
        known = [*_own_changes(op, done), *(latest[each] for each in below & latest.keys())]
        if known:
            latest[op] = max(known, key=lambda each: each.number)
        if operation(op.name).shares and below <= following:
            following.add(op)
    return {op: latest[op] for op in latest.keys() - following}


def _own_changes(op: Op, done: Pass) -> Iterator[Change]:
    for leaf in op.leaves:
        if not leaf.assumed:
            yield from (each for each in leaf.storage.changes if each.number < done.number)
