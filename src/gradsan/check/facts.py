"""From what a path came upon to the facts of an incident, which the causes read at run time too."""

from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile

from gradsan.check.edited import edited
from gradsan.check.graph import LIKELY, SURE, Label, Leaf, Op, label_for, leaves_in
from gradsan.check.old_part import OldPart, below
from gradsan.check.running_loops import RunningLoop, step_loop
from gradsan.check.spots import stack_of
from gradsan.check.stopped import Stopped, op_fact, pass_fact, weighed_by
from gradsan.check.teaching import path_to_teacher
from gradsan.check.troubles import KeptDonated, NoGraph, OldValue, ReadFreed, SecondWalk, Trouble
from gradsan.check.walking import path_to, peeled, terms
from gradsan.check.world import World
from gradsan.facts.incident import (
    Donated,
    GraphPath,
    Kinship,
    Owners,
    PassFact,
    ReadAfterFree,
    SecondPass,
    WithoutHistory,
    whom_for,
)


def stopped(trouble: Trouble, world: World) -> Stopped:
    """The facts of what a path came upon."""
    return _FACTS[type(trouble)](trouble, world)


def _without_graph(trouble: NoGraph, world: World) -> Stopped:
    failing = trouble.failing
    cut, doubt = stack_of(trouble.cut.site), weighed_by(SURE if trouble.cut.gave is None else LIKELY, failing)
    incident = WithoutHistory(pass_fact(failing, world), cut=cut, by=trouble.cut.how or None, proved=True, doubt=doubt)
    return Stopped(incident, label_for(trouble.name))


def _donated(trouble: KeptDonated, world: World) -> Stopped:
    doubt = weighed_by(trouble.doubt, trouble.failing)
    return Stopped(Donated(pass_fact(trouble.failing, world), doubt=doubt), label_for(trouble.failing.label))


def _read(trouble: ReadFreed, world: World) -> Stopped:
    reading = PassFact("backward", retains=False, stack=stack_of(trouble.site), step=1, begin=0)
    incident = ReadAfterFree(reading, pass_fact(trouble.freeing, world), proved=True)
    return Stopped(incident, label_for(trouble.name))


def _second_pass(trouble: SecondWalk, world: World) -> Stopped:
    path = path_to(trouble.op, trouble.found)
    freed = next(position for position, op in enumerate(path) if op in trouble.freed)
    loop = step_loop(trouble, path[freed], _label(path, freed, trouble), world)
    old = OldPart(trouble.failing.roots, path[freed], below(trouble.freed), trouble.found)
    owners = _owners(old, trouble, world)
    teacher = None if owners.apart else path_to_teacher(trouble, _owning(trouble, world), owners.served)
    if teacher is not None:
        path, owners = [*teacher[0], *teacher[1]], replace(owners, is_teaching=True)
    at = _crossing(path, freed, loop) if teacher is None else len(teacher[0])
    carried, enters = path[at], path[at - 1] if at else None
    label = _label(path, at, trouble)
    old = replace(old, op=carried)
    kinship = _kinship(trouble)
    incident = SecondPass(
        failing=pass_fact(trouble.failing, world),
        freeing=pass_fact(trouble.freeing, world),
        path=GraphPath(),
        made=op_fact(carried),
        enters=None if enters is None else op_fact(enters),
        kinship=kinship,
        repetition=None if loop is None else loop.repetition,
        updated_between=world.changed_between(trouble.freeing, trouble.failing),
        cleared_between=world.cleared_between(trouble.freeing, trouble.failing),
        owners=owners,
        consumed=frozenset(),
        consumed_bytes=None,
        compiled=trouble.op.compiled is not None,
        checkpointed=trouble.checkpointed,
        own_backward=trouble.op.inner is not None,
        trained_again=old.is_trained_again,
        is_term=old.is_reached_again and old.is_term,
        carries_more=kinship == "total" and old.is_reached_otherwise,
        is_average=old.is_average,
        is_operand=old.is_operand,
        additions=len(list(takewhile(_adds, reversed(path[:freed])))),
        doubt=weighed_by(trouble.doubt, trouble.failing, trouble.freeing, *path),
    )
    return Stopped(incident, label, crosses=carried)


def _adds(op: Op) -> bool:
    return op.form == "linear" and len(op.edges) > 1


def _crossing(path: list[Op], freed: int, loop: RunningLoop | None) -> int:
    """Where the path leads out of the present iteration, or out of the loop; else into what was freed."""
    if loop is None:
        return freed
    iterations = [loop.iteration_of(op.moment) for op in path]
    inside = {loop.now} if iterations[freed] is not None else set(iterations) - {None}
    return next(position for position, each in enumerate(iterations) if each not in inside or position == freed)


def _label(path: list[Op], at: int, trouble: SecondWalk) -> Label | None:
    """The name on the edge that crosses over; else on the path to it, else further inwards, else the loss itself."""
    nearest = (at, *range(at - 1, 0, -1), *range(at + 1, len(path)))
    label = next(filter(None, (trouble.found[path[position]].label for position in nearest)), None)
    is_asked_for = at == 0 and not trouble.checkpointed
    names = [trouble.failing.label if is_asked_for else None, *(op.called for op in path[at:])]
    return label or label_for(next(filter(None, names), None))


def _kinship(trouble: SecondWalk) -> Kinship:
    """How the failing root relates to the roots of earlier passes."""
    ours = {peeled(root) for root in trouble.failing.roots}
    theirs = {peeled(root) for root in trouble.freeing.roots}
    if ours & theirs:
        return "same"
    mine, earlier = (
        {term for root in each.roots for term in terms(root)} for each in (trouble.failing, trouble.freeing)
    )
    return "total" if mine & earlier & trouble.freed else "none"


def _owners(old: OldPart, trouble: SecondWalk, world: World) -> Owners:
    """Whose parameters lie inside and outside the freed part, and whom the earlier pass was for."""
    fresh, freed = leaves_in(old.beside), leaves_in(old.ops)
    names = {id(each): f"{each.name}#{at}" for at, each in enumerate(world.optimizers)}
    stepped = frozenset(names[id(each)] for each in world.stepped_between(trouble.freeing, trouble.failing))
    discarded = frozenset(names[id(each)] for each in world.discarded_between(trouble.freeing, trouble.failing))
    reached = _optimizers(set(trouble.freeing.reached), world)
    owners = Owners(
        _optimizers(fresh, world),
        _optimizers(freed, world),
        by_optimizer=True,
        reached=reached,
        served=whom_for(stepped, reached, discarded),
        discarded=discarded,
        one_line=stack_of(trouble.failing.site) == stack_of(trouble.freeing.site),
    )
    return owners if owners.fresh or owners.freed else Owners(_modules(fresh), _modules(freed), by_optimizer=False)


def _modules(leaves: set[Leaf]) -> frozenset[str]:
    """The modules that parameters belong to; a tensor by itself belongs to none."""
    return frozenset(leaf.module for leaf in leaves if leaf.assumed or leaf.name != leaf.module)


def _owning(trouble: SecondWalk, world: World) -> dict[Leaf, frozenset[str]]:
    """The optimizers of each parameter that the failing pass comes to."""
    return {leaf: _optimizers({leaf}, world) for leaf in leaves_in(trouble.found)}


def _optimizers(leaves: set[Leaf], world: World) -> frozenset[str]:
    owning = ((at, each) for at, each in enumerate(world.optimizers) if not leaves.isdisjoint(each.owned))
    return frozenset(f"{each.name}#{at}" for at, each in owning)


_FACTS: dict[type[Trouble], Callable[..., Stopped]] = {
    SecondWalk: _second_pass,
    OldValue: edited,
    NoGraph: _without_graph,
    KeptDonated: _donated,
    ReadFreed: _read,
}
