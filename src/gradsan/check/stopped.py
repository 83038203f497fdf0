"""A pass that the engine would stop: the incident, and the parts of which all incidents consist."""

from dataclasses import dataclass

from gradsan.check.graph import Label, Op, Pass
from gradsan.check.spots import stack_of
from gradsan.check.world import World
from gradsan.facts.doubt import weighed
from gradsan.facts.incident import Incident, OpFact, PassFact


@dataclass(frozen=True, slots=True)
class Stopped:
    """An incident, and the name through which it came about."""

    incident: Incident
    label: Label | None
    crosses: Op | None = None  # what was carried on


def op_fact(op: Op) -> OpFact:
    """An op as causes see it."""
    return OpFact(op.name, op.number, stack_of(op.site), op.freed is not None)


def pass_fact(done: Pass, world: World) -> PassFact:
    """A pass as causes see it."""
    earlier = [each for each in world.passes if each.site.node is done.site.node and each.number < done.number]
    return PassFact(
        done.kind, done.retains, stack_of(done.site), 1 + len(earlier), done.number, in_forward=done.in_forward
    )


def weighed_by(doubt: int, *involved: Pass | Op) -> int:
    """How doubtful it is, of what happens in branches that may not be taken."""
    return weighed(doubt, guarded=any(each.guarded for each in involved))
