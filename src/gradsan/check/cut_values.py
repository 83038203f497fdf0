"""What a path shows of values that lost their graph: parameters beyond a cut, and terms that are constants."""

from collections.abc import Iterator
from dataclasses import replace

from gradsan.check.graph import LIKELY, SURE, Cut, Leaf, Op, Pass, leaves_in
from gradsan.check.moments import is_of_earlier_iteration
from gradsan.check.old_part import below
from gradsan.check.spots import stack_of
from gradsan.check.stopped import weighed_by
from gradsan.check.walking import terms
from gradsan.check.world import World
from gradsan.facts.course import ConstantTerm, CutOff
from gradsan.knowledge.effects import does
from gradsan.knowledge.tensors import operation

_ADDING = "add"  # what is subtracted is a baseline, as often as not


def cut_off(world: World) -> Iterator[tuple[object, CutOff | None]]:
    """Parameters that an optimizer owns and no pass reaches, with the cut that keeps passes away.

    Without a fact: those that a pass reaches. Where it does so on another path, the cut is made on purpose.
    """
    yield from ((_identity(leaf), None) for leaf in world.reached())
    trained = {leaf for each in world.optimizers if each.complete and each.steps for leaf in each.owned}
    cuts: list[tuple[Cut, Op | Pass]] = [(cut, op) for cut, op in world.cut_into if op.walked]
    cuts += [(leaf.made_of, each) for each in world.passes for leaf in each.reached if leaf.made_of is not None]
    for cut, user in {cut: (cut, user) for cut, user in cuts if not _is_carried(cut, user)}.values():
        lost = sorted((leaf for leaf in _beyond(cut) & trained if not leaf.reached), key=_named)
        if lost and not any(leaf.assumed for leaf in lost):
            yield _identity(lost[0]), replace(_lost_at(cut, lost[0].module), is_earlier=_is_of_before(cut, user))


def _is_carried(cut: Cut, user: Op | Pass) -> bool:
    """Whether it was made in an earlier iteration: a state is cut off from the steps before."""
    return any(is_of_earlier_iteration(each.moment, user.moment) for each in cut.ops)


def _is_of_before(cut: Cut, user: Op | Pass) -> bool:
    """Whether it was made before the loop began in which its result is used."""
    return any(user.moment[: len(each.moment)] == each.moment != user.moment for each in cut.ops)


def detached_terms(world: World) -> Iterator[tuple[Op, CutOff | None]]:
    """Sums that a pass walks, one of whose terms was cut off, though what it was computed from is trained.

    Without a fact: sums of which more than one term has a graph.
    """
    if not world.updates:  # it trains nothing anyhow: a test of the gradients, say
        return
    for each in world.passes:
        yield from ((op, None) for op in each.ops if op.name == _ADDING and len(op.edges) > 1)
    for cut, op in world.cut_into:
        done = next((each for each in op.walked if each.kind == "backward"), None)
        if done is None or cut.gave is not None or op.name != _ADDING or not _is_added(op, done):
            continue
        lost = sorted(_beyond(cut).intersection(done.reached), key=_named)
        others = {term for root in done.roots for term in terms(root)}
        if lost and others.isdisjoint(cut.ops) and _are_seen(lost, cut):
            yield op, _lost_at(cut, lost[0].module, is_term=True)


def terms_in_vain(world: World) -> Iterator[tuple[Op, CutOff | None]]:
    """Terms of a loss whose gradients are cleared unread, and that were cut off from what the same pass trains.

    By the op that the cut leads into. Without a fact: those of which some optimizer takes a gradient.
    """
    for cut, op in world.cut_into:
        for done in op.walked if cut.gave is None else ():
            lost = sorted(_beyond(cut).intersection(done.reached), key=_named)
            trained = leaves_in(below([_term_of(op, done)])).intersection(done.reached) if lost else set()
            fates = {world.is_cleared_first(leaf, done) for leaf in trained}
            if False in fates:
                yield op, None
            elif fates == {True} and _are_seen(lost, cut) and not any(leaf.assumed for leaf in trained):
                yield op, _lost_at(cut, lost[0].module, is_term=True)


def drawn(world: World) -> Iterator[tuple[Op, CutOff | None]]:
    """Values drawn without a graph that a term of a loss is made of, though another trains what they were drawn from.

    By the op that draws. Without a fact: where somebody asks how likely the value is, as score functions do.
    """
    for cut, op in world.cut_into:
        source = next((each for each in cut.ops if does(each.name, "can draw with a graph")), None)
        if source is None or cut.gave is not None:
            continue
        if "log_prob" in (op.name, *(each.name for each in source.users)):
            yield source, None
        for done in op.walked if not _is_carried(cut, op) else ():
            lost = sorted(_beyond(cut).intersection(done.reached), key=_named)
            is_beside = _beyond(cut).isdisjoint(leaves_in(below([_term_of(op, done)])))
            if lost and is_beside and source in done.ops and not any(leaf.assumed for leaf in lost):
                yield source, replace(_lost_at(cut, lost[0].module), is_drawn=True)


def _term_of(op: Op, done: Pass) -> Op:
    """The smallest term of a loss that an op is a part of; the op itself, where it is a part of none."""
    among = [(below([each]), each) for root in done.roots for each in terms(root)]
    return min(((len(ops), each.number, each) for ops, each in among if op in ops), default=(0, 0, op))[-1]


def _are_seen(lost: list[Leaf], cut: Cut) -> bool:
    """Whether what a cut keeps a term away from is there: in source, or the cut is made at a parameter itself."""
    return set(lost) <= set(cut.leaves) or not any(leaf.assumed for leaf in lost)


def _lost_at(cut: Cut, module: str, *, is_term: bool = False) -> CutOff:
    name, site = cut.name or module, stack_of(cut.site)
    return CutOff((), module, steps=None, how=cut.how, cut=site, name=name, is_term=is_term, doubt=LIKELY)


def _beyond(cut: Cut) -> set[Leaf]:
    """What a cut keeps passes away from."""
    return {leaf for leaf in {*cut.leaves, *leaves_in(below(cut.ops))} if leaf.requires}


def _named(leaf: Leaf) -> str:
    return f"{leaf.module}.{leaf.name}"


def _identity(leaf: Leaf) -> object:
    return leaf.origin or _named(leaf)


def constant_terms(world: World) -> Iterator[tuple[Cut, Op, ConstantTerm]]:
    """Terms of a loss that are made of gradients without a graph, though these depend on what the loss trains."""
    for cut, op in world.cut_into:
        done = next((each for each in op.walked if each.kind == "backward"), None)
        if cut.gave is None or done is None or not _is_added(op, done):
            continue
        behind = set(leaves_in(cut.gave.ops))
        if not behind.isdisjoint(done.reached):
            fact = ConstantTerm(
                name=cut.name,
                asked=stack_of(cut.site),
                enters=stack_of(op.site),
                used=stack_of(done.site),
                doubt=weighed_by(LIKELY if done.is_assumed else SURE, done, op),
            )
            yield cut, op, fact


def _is_added(op: Op, done: Pass) -> bool:
    """Whether an op only adds up losses, and what a pass is asked for is one of its sums."""
    row = operation(op.name)
    return row.linear == "adds" and not row.rearranges and any(op in terms(root) for root in done.roots)
