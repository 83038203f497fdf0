"""Losses that no pass takes: those that a loop overwrites, and sums of which a pass takes a part."""

from collections.abc import Iterator

from gradsan.check.graph import LoopRun, Op, Pass
from gradsan.check.spots import stack_of
from gradsan.check.stopped import weighed_by
from gradsan.check.troubles import Rebinding
from gradsan.check.waiting_losses import is_in_step, waiting
from gradsan.check.walking import peeled, terms
from gradsan.check.world import World
from gradsan.facts.course import DroppedLoss, LeftOut
from gradsan.source.loss_terms import is_weighted

_SEEN = 2  # iterations of a loop that are followed


def dropped(world: World) -> Iterator[tuple[int, str, DroppedLoss | None]]:
    """Losses that a loop overwrites, of which a pass behind the loop, or one that has to wait, takes the last."""
    yield from ((node, "waiting", fact) for node, fact in waiting(world))
    by_run: dict[tuple[int, LoopRun], dict[int, Rebinding]] = {}
    for each in world.rebindings:
        run, number = each.op.moment[-1]
        by_run.setdefault((id(each.site.node), run), {})[number] = each
    for (node, run), iterations in by_run.items():
        first, last = iterations[min(iterations)], iterations[max(iterations)]
        if first is not last:  # else it overwrites nothing
            yield node, "overwritten", _dropped_loss(first.op, last, run)


def left_out(world: World, kept: frozenset[Op]) -> Iterator[tuple[int, object, LeftOut | None]]:
    """Losses of which passes take nothing, or a part, by the node that names them, and that of what is not taken."""
    yield from _sums(world, kept)
    yield from _terms(world, kept)


def _sums(world: World, kept: frozenset[Op]) -> Iterator[tuple[int, object, LeftOut | None]]:
    """Sums that are given a name and that no pass takes, though one takes a part of them."""
    asked = {root: done for done in world.passes if done.kind == "backward" for root in done.roots}
    for each in world.rebindings:
        parts = terms(each.op) - {each.op}
        done = next((asked[part] for part in parts if part in asked), None)
        is_taken = each.op.walked or each.op.is_used or each.op.escaped or each.op in kept
        missing = [] if is_taken or done is None or done.label == each.name else _missing(parts)
        for part in parts:
            if is_taken or part.walked:
                yield id(each.site.node), id(part.site.node), None
        if done is not None and missing:
            fact = _left_out(each.op, each.name, done, is_total=True, is_read=True)
            yield id(each.site.node), id(missing[0].site.node), fact


def _missing(parts: set[Op]) -> list[Op]:
    """The terms of a sum that nothing else is done with, and that no pass takes."""
    alone = [op for op in parts if not (op.walked or op.escaped or op.doubt) and len(op.users) == 1]
    return sorted(filter(_is_of_its_own, alone), key=lambda op: op.number)


def _terms(world: World, kept: frozenset[Op]) -> Iterator[tuple[int, object, LeftOut | None]]:
    """Terms that a statement drops, or that are multiplied by what is called a weight, and then only noted."""
    named = [(each.name, each.op, each.node, True) for each in world.dropped_terms]
    named += [
        (each.name, each.op, each.site.node, False) for each in world.rebindings if is_weighted(each.op.site.node)
    ]
    for name, op, node, is_total in named:
        term = op.edges[-1].op if is_total and len(op.edges) > 1 else op
        is_taken = any(each.walked or each in kept for each in (op, term, peeled(term)))
        done = next(
            (each for each in world.passes if each.kind == "backward" and each.moment[: len(op.moment)] == op.moment),
            None,
        )
        if is_taken:
            yield id(node), None, None
        elif done is not None and op.moment and not (op.is_used or op.escaped or op.doubt) and _is_of_its_own(op):
            yield id(node), None, _left_out(op, name, done, is_total=is_total, is_weighted=not is_total)


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


def _left_out(
    op: Op, name: str, done: Pass, *, is_total: bool, is_read: bool = False, is_weighted: bool = False
) -> LeftOut:
    created, sibling = stack_of(op.site), stack_of(done.site)
    return LeftOut(
        created,
        name,
        _SEEN,
        is_read,
        is_used=False,
        alone=(),
        sibling=sibling,
        is_total=is_total,
        is_weighted=is_weighted,
    )


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
    return is_in_step(loss)
