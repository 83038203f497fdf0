"""What becomes of gradients: they are cleared before a step takes them, or a step takes those of another loss."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from gradsan.check.graph import LIKELY, SURE, Leaf, Op, Pass
from gradsan.check.moments import parting
from gradsan.check.spots import stack_of
from gradsan.check.stopped import weighed_by
from gradsan.check.troubles import Mixed, Piled
from gradsan.check.world import World
from gradsan.facts.course import Gave, OptimizerLine
from gradsan.facts.incident import Stack
from gradsan.knowledge.effects import does, touches_gradients
from gradsan.source.loss_terms import counts
from gradsan.source.names import called_name, calls


def piled(world: World) -> Iterator[tuple[int, OptimizerLine | None]]:
    """Steps that use gradients which an earlier step has used already, by the node; without a fact: others."""
    for each in world.piled:
        if each.moment and not any(run.imagined for run, _ in each.moment):
            yield id(each.stepped.node), _piled_line(each)
    yield from ((node, None) for node in _stepped_again(world) - _piling(world))


def mixed(world: World) -> Iterator[tuple[int, OptimizerLine | None]]:
    """Steps that also take what a pass has left on its path through their network into that of another optimizer.

    As in a GAN, where the generator's pass goes through the discriminator. What an encoder that serves several heads is
    given by their losses is meant for it: they are not below it. Where gradients pile up anyhow, that explains it.
    """
    is_known = all(each.complete for each in world.optimizers)
    found = {id(each.stepped.node): each for each in world.mixed if is_known and _is_foreign(each, world)}
    yield from ((node, _mixed_line(found[node])) for node in found.keys() - _piling(world))
    yield from ((node, None) for node in _stepped_again(world) - found.keys())


def _piling(world: World) -> set[int]:
    return {id(each.stepped.node) for each in world.piled}


def _stepped_again(world: World) -> set[int]:
    """The nodes of steps that changed what others had changed before."""
    edited = {leaf.storage.edited for leaf in world.reached() if leaf.storage.version > 1}
    return {id(site.node) for site in edited if site is not None}


def _piled_line(each: Piled) -> OptimizerLine:
    doubt = SURE if each.optimizer.complete and not each.source.is_assumed else LIKELY
    stack, adding = stack_of(each.stepped), stack_of(each.source.site)
    return OptimizerLine(stack, each.optimizer.name, adding, doubt=weighed_by(doubt, each.source))


def _mixed_line(each: Mixed) -> OptimizerLine:
    foreign, own = stack_of(each.left.site), stack_of(each.own.site)
    line = OptimizerLine(stack_of(each.stepped), each.optimizer.name, adding=(), piled=0, foreign=foreign, own=own)
    return replace(line, mixed=None, doubt=weighed_by(LIKELY, each.left, each.own))


def _is_foreign(mixed: Mixed, world: World) -> bool:
    own = set(mixed.optimizer.owned)
    others = {leaf for each in world.optimizers for leaf in each.owned} - own
    is_apart = others.isdisjoint(mixed.own.reached) and mixed.left.site.node is not mixed.own.site.node
    return is_apart and _leads_through(mixed.left, own, others) and not any(leaf.gradient_read for leaf in own)


def _leads_through(done: Pass, own: AbstractSet[Leaf], others: AbstractSet[Leaf]) -> bool:
    """Whether there is a path from a loss that comes to some leaves first, and from there to others."""
    waiting, seen = [(root, False) for root in done.roots], set[tuple[Op, bool]]()
    while waiting:
        op, is_through = step = waiting.pop()
        if step in seen:
            continue
        seen.add(step)
        if others.isdisjoint(op.leaves):
            is_through = is_through or not own.isdisjoint(op.leaves)
            waiting += [(edge.op, is_through) for edge in op.edges]
        elif is_through:
            return True
    return False


def wasted(world: World) -> Iterator[tuple[Pass, Gave]]:
    """Passes that come after a step, or of whose gradients a step finds nothing."""
    for done in world.passes:
        step = next(_steps_before(done), ()) if done.missed is None else stack_of(done.missed)
        if done.moment and step and not done.used and _is_lost(done, world):
            yield done, Gave(step)


def all_but_last(world: World) -> Iterator[tuple[Pass, Gave]]:
    """Passes of a line whose gradients the next iteration clears, though one step is to take what several give."""
    for done in world.passes:
        later = _next(done, world)
        if later is not None and not (done.used or done.guarded) and _is_lost(done, world):
            step = next(_steps_before(later), ()) if later.used else _step_of_counter(done, world)
            if step:
                yield done, Gave(step, all_but_last=None)


def _next(done: Pass, world: World) -> Pass | None:
    """The pass of the same line in the next iteration, where gradients were cleared in between and no step came."""
    for later in world.passes:
        found = parting(done.moment, later.moment) if later.site.path == done.site.path else None
        if found is not None and (found.run, found.now) == (done.moment[-1][0], found.then + 1):
            is_stepped = any(done.number < when < later.number for when, _ in world.steps)
            return later if world.cleared_between(done, later) and not is_stepped else None
    return None


def _is_lost(done: Pass, world: World) -> bool:
    """Whether its gradients were cleared, all were for optimizers, and nobody has read them."""
    owned = {leaf for each in world.optimizers if each.complete for leaf in each.owned}
    is_read = any(leaf.gradient_read for leaf in done.reached)
    return done.wasted and bool(done.reached) and owned.issuperset(done.reached) and not is_read


def _steps_before(done: Pass) -> Iterator[Stack]:
    """The steps that have changed what a pass reaches."""
    for leaf in done.reached:
        if leaf.storage.by is not None:
            yield stack_of(leaf.storage.edited)


def _step_of_counter(done: Pass, world: World) -> Stack:
    """The step that a counter holds back on this path, if it is alone in what it decides about gradients."""
    held_back = world.held_back(touches_gradients)
    if len(held_back) != 1 or world.steps:
        return ()
    node, code = held_back.pop()
    step = next((each for each in calls(node) if does(called_name(each), "steps")), None)
    around = next((site for site in done.site.outwards() if site.code == code), None)
    if step is None or around is None or not counts(node.test):
        return ()
    return stack_of(replace(around, node=step))
