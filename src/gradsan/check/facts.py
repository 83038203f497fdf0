"""From what a path came upon to the facts of an incident, which the causes read at run time too."""

from itertools import takewhile

from gradsan.check.edited import edited
from gradsan.check.graph import SURE, Label, Leaf, Op
from gradsan.check.old_part import OldPart, below
from gradsan.check.running_loops import RunningLoop, step_loop
from gradsan.check.spots import stack_of
from gradsan.check.stopped import Stopped, label_of_name, op_fact, pass_fact
from gradsan.check.troubles import KeptDonated, NoHistory, OldValue, ReadFreed, SecondWalk, Trouble
from gradsan.check.walking import peeled, terms, way_to
from gradsan.check.world import World
from gradsan.facts.doubt import weighed
from gradsan.facts.incident import (
    Donated,
    Kinship,
    Owners,
    PassFact,
    ReadAfterFree,
    SecondPass,
    Way,
    WithoutHistory,
)


def stopped(trouble: Trouble, world: World) -> Stopped:
    """The facts of what a path came upon."""
    match trouble:
        case SecondWalk():
            return _second_pass(trouble, world)
        case OldValue():
            return edited(trouble, world)
        case NoHistory(failing=failing, name=name):
            cut, doubt = stack_of(trouble.cut.site), weighed(SURE, guarded=failing.guarded)
            incident = WithoutHistory(pass_fact(failing, world), cut=cut, proved=True, doubt=doubt)
            return Stopped(incident, Label(name, "local") if name else None)
        case KeptDonated(failing=failing):
            doubt = weighed(trouble.doubt, guarded=failing.guarded)
            label = Label(failing.label, "local") if failing.label else None
            return Stopped(Donated(pass_fact(failing, world), doubt=doubt), label)
    return _read(trouble, world)


def _second_pass(trouble: SecondWalk, world: World) -> Stopped:
    path = way_to(trouble.op, trouble.found)
    freed = next(position for position, op in enumerate(path) if op in trouble.freed)
    loop = step_loop(trouble, path[freed], _label(path, freed, trouble), world)
    at = _crossing(path, freed, loop)
    made, enters = path[at], path[at - 1] if at else None
    label = _label(path, at, trouble)
    old = OldPart(trouble.failing.roots, made, below(trouble.freed), trouble.found)
    kinship, anew = _kinship(trouble), old.is_trained_anew
    guarded = any(each.guarded for each in (trouble.failing, trouble.freeing)) or any(op.guarded for op in path)
    incident = SecondPass(
        failing=pass_fact(trouble.failing, world),
        freeing=pass_fact(trouble.freeing, world),
        path=Way(),
        made=op_fact(made),
        enters=None if enters is None else op_fact(enters),
        kinship=kinship,
        repetition=None if loop is None else loop.repetition,
        updated_between=world.changed_between(trouble.freeing, trouble.failing),
        cleared_between=world.cleared_between(trouble.freeing, trouble.failing),
        owners=_owners(old, world),
        consumed=frozenset(),
        consumed_bytes=None,
        compiled=trouble.op.compiled is not None,
        checkpointed=trouble.checkpointed,
        own_backward=trouble.op.inner is not None,
        trained_anew=anew,
        is_term=anew and old.is_term,
        carries_more=kinship == "total" and old.is_reached_otherwise,
        is_operand=old.is_operand,
        additions=len(list(takewhile(_adds, reversed(path[:freed])))),
        doubt=weighed(trouble.doubt, guarded=guarded),
    )
    return Stopped(incident, label, crosses=made)


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
    edge = trouble.found[path[at]].edge
    if edge is not None and edge.label is not None:
        return edge.label
    for position in (*range(at - 1, 0, -1), *range(at + 1, len(path))):
        inner = trouble.found[path[position]].edge
        if inner is not None and inner.label is not None:
            return inner.label
    if at == 0 and trouble.failing.label and not trouble.checkpointed:
        return label_of_name(trouble.failing.label)
    called = next((op.called for op in path[at:] if op.called), None)
    return label_of_name(called) if called else None


def _kinship(trouble: SecondWalk) -> Kinship:
    """How the failing root relates to the roots of earlier passes."""
    ours = {peeled(root) for root in trouble.failing.roots}
    theirs = {peeled(root) for root in trouble.freeing.roots}
    if ours & theirs:
        return "same"
    mine = {term for root in trouble.failing.roots for term in terms(root)}
    earlier = {term for root in trouble.freeing.roots for term in terms(root)}
    return "total" if any(op in trouble.freed for op in mine & earlier) else "none"


def _owners(old: OldPart, world: World) -> Owners:
    """Whose parameters lie inside and outside the freed part."""
    freed = {leaf for op in old.ops for leaf in op.leaves}
    fresh = {leaf for op in old.found if op not in old.ops for leaf in op.leaves}
    if world.optimizers:
        names = {leaf: _owner_names(leaf, world) for leaf in freed | fresh}
        by_fresh = frozenset(name for leaf in fresh for name in names[leaf])
        by_freed = frozenset(name for leaf in freed for name in names[leaf])
        if by_fresh or by_freed:
            return Owners(by_fresh, by_freed, by_optimizer=True)
    return Owners(_modules(fresh), _modules(freed), by_optimizer=False)


def _modules(leaves: set[Leaf]) -> frozenset[str]:
    """The modules that parameters belong to; a tensor by itself belongs to none."""
    return frozenset(leaf.module for leaf in leaves if leaf.assumed or leaf.name != leaf.module)


def _owner_names(leaf: Leaf, world: World) -> set[str]:
    return {f"{each.name}#{at}" for at, each in enumerate(world.optimizers) if leaf in each.owned}


def _read(trouble: ReadFreed, world: World) -> Stopped:
    freeing = trouble.op.freed
    reading = PassFact("backward", retains=False, stack=stack_of(trouble.site), step=1, begin=0)
    incident = ReadAfterFree(reading, None if freeing is None else pass_fact(freeing, world), proved=True)
    return Stopped(incident, Label(trouble.name, "local") if trouble.name else None)
