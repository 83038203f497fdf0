"""What a path shows that no error reports, as facts of a course; and which of them another path shows not to be so."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from gradsan.check.cut_values import constant_terms, cut_off
from gradsan.check.graph import LIKELY, SURE, Label, Op, Pass
from gradsan.check.kept_graphs import Kept, kept_graphs
from gradsan.check.spots import stack_of
from gradsan.check.troubles import OldValue, Piled, Regrown, SecondWalk
from gradsan.check.walking import way_to
from gradsan.check.world import World
from gradsan.facts.course import (
    Carried,
    ConstantTerm,
    Course,
    CutOff,
    DroppedLoss,
    Gave,
    Hoard,
    Holding,
    OptimizerLine,
    PassLine,
    Stale,
)
from gradsan.facts.doubt import weighed
from gradsan.facts.incident import Stack
from gradsan.source.step_loops import Loop, is_of_one_step

Aspect = Literal["retained", "piled", "dropped", "old", "grown", "kept", "cut", "late", "constant"]
Key = tuple[Aspect, int, object]  # in which respect, at which node, and what else tells two facts apart
Fact = PassLine | OptimizerLine | DroppedLoss | Holding | Hoard | CutOff | ConstantTerm


@dataclass(slots=True)
class Suspicions:
    """What paths show, and what they show not to be so."""

    found: dict[Key, Fact] = field(default_factory=dict)
    refuted: set[Key] = field(default_factory=set)

    def add(self, other: "Suspicions") -> None:
        """What another path shows as well."""
        self.found |= other.found
        self.refuted |= other.refuted

    def course(self) -> Course | None:
        """What holds on every path that comes to it; None: nothing does."""
        facts = [fact for key, fact in self.found.items() if key not in self.refuted]
        if not facts:
            return None
        return Course(
            lines=tuple(each for each in facts if isinstance(each, PassLine)),
            optimizers=tuple(each for each in facts if isinstance(each, OptimizerLine)),
            holdings=tuple(each for each in facts if isinstance(each, Holding)),
            hoards=tuple(each for each in facts if isinstance(each, Hoard)),
            dropped=tuple(each for each in facts if isinstance(each, DroppedLoss)),
            cut_off=tuple(each for each in facts if isinstance(each, CutOff)),
            constant_terms=tuple(each for each in facts if isinstance(each, ConstantTerm)),
        )


def suspicions(world: World, *, closed: bool, kept: frozenset[Op]) -> Suspicions:
    """Everything of one path. `closed`: the whole program was followed; `kept`: what a caller may still use."""
    shown = Suspicions()
    _retained(world, shown, closed=closed, kept=kept)
    _piled(world, shown)
    _dropped(world, shown)
    old = _old(world, shown)
    _grown(world, shown, old)
    _kept(world, shown, closed=closed and bool(world.passes), kept=kept)
    _cut_off(world, shown)
    _late(world, shown)
    _constant(world, shown)
    return shown


def _retained(world: World, shown: Suspicions, *, closed: bool, kept: frozenset[Op]) -> None:
    """Passes that keep a graph which no later pass walks."""
    for done in world.passes:
        if not done.keeps:
            continue
        key: Key = ("retained", id(done.site.node), None)
        again = any(other.number > done.number for op in done.ops for other in op.walked)
        open_end = not closed and any(op in kept or op.escaped for op in done.ops)
        if again or open_end or done.is_assumed:
            shown.refuted.add(key)
        else:
            shown.found[key] = replace(_line(done, SURE), retained=1, followed=1)


def _piled(world: World, shown: Suspicions) -> None:
    """Steps that use gradients which an earlier step has used already."""
    stepped = {id(each.stepped.node) for each in world.piled}
    for each in world.piled:
        if each.moment and not any(run.imagined for run, _ in each.moment):
            shown.found["piled", id(each.stepped.node), None] = _optimizer(each)
    storages = [leaf.storage for done in world.passes for leaf in done.reached]
    cleared = {id(each.edited.node) for each in storages if each.edited is not None and each.version > 1}
    shown.refuted |= {("piled", node, None) for node in cleared - stepped}


def _optimizer(piled: Piled) -> OptimizerLine:
    doubt = SURE if piled.optimizer.complete and not piled.source.is_assumed else LIKELY
    return OptimizerLine(
        stack=stack_of(piled.stepped),
        name=piled.optimizer.name,
        adding=stack_of(piled.source.site),
        doubt=weighed(doubt, guarded=piled.source.guarded),
    )


def _dropped(world: World, shown: Suspicions) -> None:
    """Losses that a loop overwrites, of which a pass behind the loop takes the last."""
    by_name: dict[tuple[int, int], dict[int, tuple[Op, str]]] = {}
    for each in world.rebindings:
        run, number = each.op.moment[-1]
        by_name.setdefault((id(each.site.node), id(run)), {})[number] = (each.op, each.name)
    for (node, _), iterations in by_name.items():
        if len(iterations) == 1:  # it overwrites nothing
            continue
        (first, _), (last, name) = iterations[min(iterations)], iterations[max(iterations)]
        run = last.moment[-1][0]
        after = [done for done in last.walked if all(other is not run for other, _ in done.moment)]
        key: Key = ("dropped", node, None)
        if first.walked or not after or first.users or first.escaped:
            shown.refuted.add(key)
            continue
        shown.found[key] = DroppedLoss(
            made=stack_of(last.site),
            name=name,
            taken=stack_of(after[0].site),
            is_of_one_step=_is_of_one_step(last, after[0]),
            doubt=weighed(max(first.doubt, last.doubt), guarded=first.guarded or last.guarded),
        )


def _is_of_one_step(loss: Op, done: Pass) -> bool:
    if done.site.code != loss.site.code:  # the function of the loop computes the loss of one step
        return True
    loops = [run.header.node for run, _ in reversed(loss.moment) if run.header.code == loss.site.code]
    around = [node for node in loops if isinstance(node, Loop)]
    return len(around) > 1 and is_of_one_step(around[0], around[1])


def _old(world: World, shown: Suspicions) -> set[int]:
    """Values that are old by the time a later iteration uses them; answers with the passes that do, by their ids."""
    passes: set[int] = set()
    if any(len(op.walked) > 1 for done in world.passes for op in done.ops):
        from gradsan.check.staleness import aged

        for each in aged(world):
            passes.add(id(each.later))
            part, label = each.part, each.label
            fact = Stale(
                _carried(label, part.op, part.enters),
                changed=stack_of(each.change.site),
                is_carried_on=False,
                is_asked_for=part.enters is None,
                made_in_loop=each.is_made_in_loop,
                trained_anew=part.is_trained_anew,
                is_term=part.is_term,
                is_operand=part.is_operand,
            )
            key: Key = ("old", id(each.later.site.node), id(part.op.site.node))
            shown.found[key] = replace(_line(each.later, SURE), stale=(fact,))
    for done in world.passes:
        if done.moment and done.moment[-1][1] > 1:
            created = [op for op in done.ops if op.moment[: len(done.moment)] == done.moment]
            shown.refuted |= {("old", id(done.site.node), id(op.site.node)) for op in created}
    return passes


def _grown(world: World, shown: Suspicions, old: set[int]) -> None:
    """Passes that walk what the same line has walked before, over a change of the parameters."""
    failing = {id(each.failing) for each in world.troubles if isinstance(each, SecondWalk | OldValue)}
    for each in world.regrown:
        if id(each.later) in failing | old or not world.changed_between(each.earlier, each.later):
            continue
        if each.doubt <= LIKELY and each.earlier.retains:
            carried = _carried(_crossing(each), each.op, each.found[each.op].parent)
            line = replace(_line(each.later, each.doubt), retained=1, is_grown=True, carried=carried)
            shown.found["grown", id(each.later.site.node), None] = line


def _crossing(grown: Regrown) -> Label | None:
    edges = [grown.found[op].edge for op in way_to(grown.op, grown.found)]
    return next((edge.label for edge in edges if edge is not None and edge.label is not None), None)


def _carried(label: Label | None, op: Op, enters: Op | None) -> Carried:
    name, holder = (None, None) if label is None else (label.name, label.holder)
    return Carried(
        name, holder, certain=True, made=stack_of(op.site), enters=stack_of(None if enters is None else enters.site)
    )


def _kept(world: World, shown: Suspicions, *, closed: bool, kept: frozenset[Op]) -> None:
    """Names that a loop feeds with graphs which no pass needs any more."""
    for node, graphs in kept_graphs(world, closed=closed, kept=kept):
        key: Key = ("kept", node, None)
        if graphs is None:
            shown.refuted.add(key)
        else:
            shown.found[key] = _holder(graphs)


def _holder(graphs: Kept) -> Holding | Hoard:
    """What passes walked is kept over steps; what none has walked was computed for nothing but its value."""
    each = graphs.collecting
    doubt = weighed(each.op.doubt if each.op.walked else LIKELY, guarded=each.op.guarded)
    name, holder = each.holder.name, each.holder.holder
    fed, made = stack_of(each.site), stack_of(graphs.created)
    if graphs.is_walked:
        return Holding(name, holder, fed, made, of_numbers=graphs.of_numbers, doubt=doubt)
    return Hoard(name, holder, None, fed, made, of_numbers=graphs.of_numbers, doubt=doubt)


def _cut_off(world: World, shown: Suspicions) -> None:
    """Parameters that an optimizer owns and no pass reaches, with the cut that keeps passes away."""
    for cut, leaf, fact in cut_off(world):
        key: Key = ("cut", id(cut.site.node), leaf)
        if fact is None:
            shown.refuted.add(key)
        else:
            shown.found[key] = fact


def _late(world: World, shown: Suspicions) -> None:
    """Passes whose gradients are cleared before a step takes them, after one that came too early."""
    owned = {leaf for each in world.optimizers if each.complete for leaf in each.owned}
    for done in world.passes:
        key: Key = ("late", id(done.site.node), None)
        if done.used or not done.reached:
            shown.refuted.add(key)
            continue
        if not done.wasted or done.kind != "backward" or not done.moment:
            continue
        step = next(_steps_before(done), ())
        reaches_others = not owned.issuperset(leaf for leaf in done.reached if leaf.requires)
        if not step or reaches_others or any(leaf.gradient_read for leaf in done.reached):
            shown.refuted.add(key)
        else:
            shown.found[key] = replace(_line(done, LIKELY if done.is_assumed else SURE), gave=Gave(step))


def _constant(world: World, shown: Suspicions) -> None:
    """Terms of a loss that are made of gradients without a graph."""
    for cut, op, fact in constant_terms(world):
        shown.found["constant", id(op.site.node), id(cut.site.node)] = fact


def _steps_before(done: Pass) -> Iterator[Stack]:
    """The steps that have changed what a pass reaches."""
    for leaf in done.reached:
        if leaf.storage.by is not None:
            yield stack_of(leaf.storage.edited)


def _line(done: Pass, doubt: int) -> PassLine:
    return PassLine(stack_of(done.site), done.kind, done.label, doubt=weighed(doubt, guarded=done.guarded))
