"""Losses whose pass stands under a condition on a counter, and that are dropped whenever it does not hold."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from gradsan.check.graph import LIKELY, Op
from gradsan.check.moments import parting
from gradsan.check.old_part import below
from gradsan.check.spots import stack_of
from gradsan.check.stopped import weighed_by
from gradsan.check.troubles import Rebinding
from gradsan.check.world import World
from gradsan.facts.course import DroppedLoss
from gradsan.knowledge.effects import asks_for_pass
from gradsan.source.loss_terms import counts
from gradsan.source.names import calls, last_name, nodes
from gradsan.source.step_loops import Loop, is_of_one_step


def waiting(world: World) -> Iterator[tuple[int, DroppedLoss | None]]:
    """Losses whose pass waits for a counter, on a path on which that never comes, if nothing else runs meanwhile."""
    held_back = [each for each in world.held_back(asks_for_pass) if counts(each[0].test)]
    for node, code in held_back if len(held_back) == 1 and world.rebindings else ():
        inside = set(nodes(node))
        asked = {last_name(each.func.value): each for each in calls(node) if isinstance(each.func, ast.Attribute)}
        is_other = any(inside.isdisjoint(done.site.path) for done in world.passes)
        for each in world.rebindings:
            if each.name in asked and each.site.code == code and not each.op.is_used and each.op.moment[-1][1] > 1:
                if is_other or each.op.escaped or _leads_on(each.op) or _is_compared(each):
                    yield id(each.site.node), None
                elif not world.passes:
                    yield id(each.site.node), _waiting_loss(each, asked[each.name])


def _leads_on(loss: Op) -> bool:
    """Whether a later iteration builds on something that it was computed from."""
    return any(parting(op.moment, user.moment) for op in below([loss]) for user in op.users)


def _is_compared(each: Rebinding) -> bool:
    """Whether the loop compares it: the program chooses among its losses."""
    compared = (node for node in nodes(each.op.moment[-1][0].header.node) if isinstance(node, ast.Compare))
    return any(getattr(part, "id", None) == each.name for node in compared for part in nodes(node))


def _waiting_loss(each: Rebinding, call: ast.Call) -> DroppedLoss:
    taken, doubt = stack_of(replace(each.site, node=call)), weighed_by(max(each.op.doubt, LIKELY), each.op)
    is_of_one_step = is_in_step(each.op)
    return DroppedLoss(stack_of(each.op.site), each.name, taken=taken, is_of_one_step=is_of_one_step, doubt=doubt)


def is_in_step(loss: Op) -> bool:
    """Whether the loop around it works on what one step gives it."""
    loops = [run.header.node for run, _ in reversed(loss.moment) if run.header.code == loss.site.code]
    around = [node for node in loops if isinstance(node, Loop)]
    return len(around) > 1 and is_of_one_step(around[0], around[1])
