"""Losses that no pass takes: those that a loop overwrites, and sums of which a pass takes a part."""

from collections.abc import Iterator

from gradsan.check.graph import LoopRun, Op, Pass
from gradsan.check.spots import stack_of
from gradsan.check.stopped import weighed_by
from gradsan.check.troubles import Rebinding
from gradsan.check.walking import terms
from gradsan.check.world import World
from gradsan.facts.course import DroppedLoss, LeftOut
from gradsan.source.step_loops import Loop, is_of_one_step

_SEEN = 2  # iterations of a loop that are followed


def dropped(world: World) -> Iterator[tuple[int, DroppedLoss | None]]:
    """Losses that a loop overwrites, of which a pass behind the loop takes the last."""
    by_run: dict[tuple[int, LoopRun], dict[int, Rebinding]] = {}
    for each in world.rebindings:
        run, number = each.op.moment[-1]
        by_run.setdefault((id(each.site.node), run), {})[number] = each
    for (node, run), iterations in by_run.items():
        first, last = iterations[min(iterations)], iterations[max(iterations)]
        if first is not last:  # else it overwrites nothing
            yield node, _dropped_loss(first.op, last, run)


def left_out(world: World, kept: frozenset[Op]) -> Iterator[tuple[int, LeftOut | None]]:
    """Sums that are given a name and that no pass takes, though one takes a part of them."""
    asked = {root: done for done in world.passes if done.kind == "backward" for root in done.roots}
    for each in world.rebindings:
        parts = terms(each.op) - {each.op}
        done = next((asked[part] for part in parts if part in asked), None)
        if done is not None and done.label != each.name:  # else it is a total, to which something is added later
            is_taken = each.op.walked or each.op.is_used or each.op.escaped or each.op in kept
            fact = None if is_taken or not _has_more(parts) else _total(each, done)
            yield id(each.site.node), fact


def _has_more(parts: set[Op]) -> bool:
    """Whether a sum has a term that nothing else is done with, and that no pass takes."""
    terms_alone = [op for op in parts if not (op.walked or op.escaped or op.doubt) and len(op.users) == 1]
    return any(_is_of_its_own(op) for op in terms_alone)


def _is_of_its_own(term: Op) -> bool:
    """Whether it is worked out of features or parameters: a mean of losses that passes take is none."""
    waiting, seen = [term], {term}
    while waiting:
        op = waiting.pop()
        if op.leaves:
            return True
        below = {edge.op for edge in op.edges} - seen
        if any(each.walked and not each.scalar for each in below):
            return True
        seen |= below
        waiting += [each for each in below if not each.walked]
    return False


def _total(sum_: Rebinding, done: Pass) -> LeftOut:
    made, sibling = stack_of(sum_.op.site), stack_of(done.site)
    return LeftOut(made, sum_.name, _SEEN, is_read=True, is_used=False, alone=(), sibling=sibling, is_total=True)


def _dropped_loss(first: Op, rebinding: Rebinding, run: LoopRun) -> DroppedLoss | None:
    last = rebinding.op
    after = [done for done in last.walked if run not in dict(done.moment)]
    if not after or first.walked or first.is_used or first.escaped:
        return None
    return DroppedLoss(
        made=stack_of(last.site),
        name=rebinding.name,
        taken=stack_of(after[0].site),
        is_of_one_step=_is_of_one_step(last, after[0]),
        doubt=weighed_by(max(first.doubt, last.doubt), first, last),
    )


def _is_of_one_step(loss: Op, done: Pass) -> bool:
    if done.site.code != loss.site.code:  # the function of the loop computes the loss of one step
        return True
    loops = [run.header.node for run, _ in reversed(loss.moment) if run.header.code == loss.site.code]
    around = [node for node in loops if isinstance(node, Loop)]
    return len(around) > 1 and is_of_one_step(around[0], around[1])
