"""Lists, totals and mappings that a loop feeds with graphs, once no pass has any use for them."""

from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.check.graph import LIKELY, SURE, Op, Site
from gradsan.check.old_part import below
from gradsan.check.troubles import Collecting, SecondWalk
from gradsan.check.walking import reach
from gradsan.check.world import World


@dataclass(frozen=True, slots=True)
class Kept:
    """What a name gathers for nobody."""

    collecting: Collecting

    @property
    def created(self) -> Site:
        """Where the newest graph comes from: what was last added to a total, and not the addition."""
        op = self.collecting.op
        return op.edges[-1].op.site if self.collecting.total and op.edges else op.site

    @property
    def of_numbers(self) -> bool:
        """Whether it could be kept as numbers: only what has one element can."""
        op = self.collecting.op
        return op.scalar or (self.collecting.total and any(edge.op.scalar for edge in op.edges))

    @property
    def is_walked(self) -> bool:
        """Whether passes have walked some of it."""
        return any(op.walked for op in below([self.collecting.op]))


def kept_graphs(world: World, *, closed: bool, kept: frozenset[Op]) -> Iterator[tuple[int, Collecting, Kept | None]]:
    """For each line that feeds a name, by its node: what is kept; None, where it is not, or for a good reason."""
    failing = [each for each in world.troubles if isinstance(each, SecondWalk)]
    troubled = {op for each in failing for op in each.found}
    for (node, _), each in world.collecting.items():
        if _is_bounded(each) or each.op.doubt > (LIKELY if each.op.scalar or each.op.walked else SURE):
            continue
        is_over = _is_total_over(world, each, kept, closed=closed) if each.total else _is_list_over(each, closed=closed)
        yield node, each, Kept(each) if is_over and troubled.isdisjoint(each.ops) else None


def _is_bounded(each: Collecting) -> bool:
    """Whether a holder begins again with each iteration of an outer loop, and takes on a few graphs until then."""
    runs = [run for run, _ in each.op.moment]
    return each.run.is_short and each.run in runs[1:]


def _is_total_over(world: World, each: Collecting, kept: frozenset[Op], *, closed: bool) -> bool:
    """Whether a total is of no use to any pass any more."""
    if each.op.walked:
        return False
    walked = [op for op in _fed(each) if op.walked]
    if walked:
        return all(_is_walked_at_once(op, each) for op in walked)
    if any(_is_spent(op, each) for op, how in reach([each.op]).items() if how.doubt == SURE):
        return True
    return closed and each.op.scalar and not _may_be_used(world, each.op, kept) and _is_new_each_time(each)


def _is_list_over(each: Collecting, *, closed: bool) -> bool:
    """Whether what a list has gathered is of no use to any pass any more."""
    if any(op.walked for op in each.ops):
        return all(op.walked and _is_walked_at_once(op, each) for op in each.ops)
    return closed and not any(op.is_used for op in each.ops) and _is_new_each_time(each)


def _is_spent(op: Op, each: Collecting) -> bool:
    """Whether a pass of the iteration that gathered it has freed it: no pass can go through the total any more."""
    is_new = dict(op.moment).get(each.run) == dict(each.op.moment).get(each.run)
    is_freed = op.freed is not None and op.saves and max(op.doubt, op.freed_doubt) == SURE
    return is_new and is_freed and _is_walked_at_once(op, each)


def _may_be_used(world: World, total: Op, kept: frozenset[Op]) -> bool:
    """Whether somebody who was not followed has it, or was handed what builds on it, and may ask for a pass yet."""
    elsewhere = kept | {op for _, op in world.handed_over if op is not total}
    waiting, seen = [total], {total}
    while waiting:
        op = waiting.pop()
        if op.may_be_read or op in elsewhere:
            return True
        waiting += set(op.users) - seen
        seen.update(op.users)
    return False


def _is_new_each_time(each: Collecting) -> bool:
    """Whether every iteration computes a graph of its own from parameters: parts of one graph keep no more of it."""
    return any(op.leaves and each.run in dict(op.moment) for op in below([each.op]))


def _fed(each: Collecting) -> list[Op]:
    """What a total was fed with."""
    return [_unscaled(edge.op) for edge in each.op.edges]


def _unscaled(op: Op) -> Op:
    """What a number was multiplied with: `loss * len(batch)` is fed, and the pass took the loss."""
    while not op.walked and op.scalar and len(op.edges) == 1:
        op = op.edges[0].op
    return op


def _is_walked_at_once(op: Op, each: Collecting) -> bool:
    """Whether all passes over an op ran in the iteration that gathered it, and not only to be walked by another."""
    gathered = dict(op.moment).get(each.run)
    if gathered is None or all(done.leads_on for done in op.walked):
        return False
    return all((each.run, gathered) in done.moment for done in op.walked)
