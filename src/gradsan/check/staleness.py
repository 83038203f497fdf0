"""Passes that walk ops again after a parameter below them was changed: values that are old by then."""

from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.check.graph import SURE, Change, Label, Op, Pass
from gradsan.check.moments import parting
from gradsan.check.old_part import OldPart
from gradsan.check.walking import reach
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
        edge = self.part.found[self.part.op].edge
        if edge is None:
            name = self.later.label
            return None if name is None else Label(name, "attribute" if "." in name else "local")
        return edge.label or (None if self.part.op.called is None else Label(self.part.op.called, "local"))

    @property
    def is_made_in_loop(self) -> bool:
        """Whether an earlier iteration of a loop that is running created it."""
        return parting(self.part.op.moment, self.later.moment) is not None


def aged(world: World) -> Iterator[Aged]:
    """All passes of a path that walk old ops, and did not fail."""
    failing = {id(getattr(each, "failing", None)) for each in world.troubles}
    for done in world.passes:
        before = {op: each for op in done.ops if (each := _earlier(op, done)) is not None}
        if before and id(done) not in failing and not done.guarded:
            yield from _newest(done, before, world)


def _earlier(op: Op, done: Pass) -> Pass | None:
    """The first pass that the same calls asked for in an earlier iteration, and that walked the op."""
    for each in op.walked:
        if each.number < done.number and _is_same_line(each, done) and _iterations(each, done) is not None:
            return each
    return None


def _is_same_line(one: Pass, other: Pass) -> bool:
    ours, theirs = (tuple(site.node for site in each.site.outwards()) for each in (one, other))
    return ours == theirs


def _iterations(earlier: Pass, later: Pass) -> tuple[object, int] | None:
    """The loop that has come round from one pass to the other, and the iteration it is in."""
    found = parting(earlier.moment, later.moment)
    return None if found is None or found[0].imagined else (found[0], found[2])


def _newest(done: Pass, before: dict[Op, Pass], world: World) -> Iterator[Aged]:
    found, changes = reach(done.roots), _changes(done)
    old = {op for op, earlier in before.items() if op in changes and changes[op].number > earlier.number}
    entries = [op for op in old if op in found and found[op].parent not in old]
    if not entries:
        return
    op = max(entries, key=lambda each: each.number)
    ran = (made for made in world.made_at.get(id(op.site.node), ()) if _iterations(before[op], done) in made)
    is_sure = max(found[op].doubt, op.doubt) == SURE and not op.healed and not op.guarded
    if is_sure and next(ran, None) is None:  # else it is carried from iteration to iteration
        yield Aged(done, changes[op], OldPart(done.roots, op, frozenset(old), found))


def _changes(done: Pass) -> dict[Op, Change]:
    """For each op that does not follow its parameters, the latest change of one below it, before a pass."""
    latest: dict[Op, Change] = {}
    following: set[Op] = set()
    for op in sorted(done.ops, key=lambda each: each.number):
        own = [each for leaf in op.leaves if not leaf.assumed for each in leaf.storage.changes]
        own += [latest[edge.op] for edge in op.edges if edge.op in latest]
        known = [each for each in own if each.number < done.number]
        if known:
            latest[op] = max(known, key=lambda each: each.number)
        if operation(op.name).shares and all(edge.op in following for edge in op.edges):
            following.add(op)
    return {op: change for op, change in latest.items() if op not in following}
