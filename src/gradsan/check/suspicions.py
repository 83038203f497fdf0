"""What a path shows that no error reports, as facts of a course; and which of them another path shows not to be so."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from gradsan.check.cut_values import constant_terms, cut_off, detached_terms
from gradsan.check.graph import LIKELY, SURE, Label, Leaf, Op, Pass
from gradsan.check.kept_graphs import Kept, kept_graphs
from gradsan.check.retained_graphs import retained
from gradsan.check.spots import stack_of
from gradsan.check.staleness import aged
from gradsan.check.stopped import weighed_by
from gradsan.check.troubles import OldValue, Piled, SecondWalk
from gradsan.check.untaken_losses import dropped, left_out
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
    LeftOut,
    OptimizerLine,
    PassLine,
    Stale,
)
from gradsan.facts.incident import Stack

Aspect = Literal["retained", "piled", "dropped", "left out", "old", "grown", "kept", "cut", "late", "constant"]
Key = tuple[Aspect, int, object]  # in which respect, at which node, and what else parts two facts
Fact = PassLine | OptimizerLine | DroppedLoss | LeftOut | Holding | Hoard | CutOff | ConstantTerm


Shown = Iterator[tuple[Key, Fact | None]]  # what a path shows; None: it shows that it is not so
_FIELDS: dict[type[Fact], str] = {
    PassLine: "lines",
    OptimizerLine: "optimizers",
    Holding: "holdings",
    Hoard: "hoards",
    DroppedLoss: "dropped",
    LeftOut: "left_out",
    CutOff: "cut_off",
    ConstantTerm: "constant_terms",
}


@dataclass(slots=True)
class Suspicions:
    """What paths show, and what they show not to be so."""

    found: dict[Key, Fact] = field(default_factory=dict)
    refuted: set[Key] = field(default_factory=set)

    def add(self, shown: Shown) -> None:
        """What another path shows as well."""
        for key, fact in shown:
            if fact is None:
                self.refuted.add(key)
            else:
                self.found[key] = fact

    def course(self) -> Course | None:
        """What holds on every path that comes to it; None: nothing does."""
        fields: dict[str, Any] = {}
        for key in [key for key in self.found if key not in self.refuted]:
            name = _FIELDS[type(self.found[key])]
            fields[name] = (*fields.get(name, ()), self.found[key])
        return Course(**fields) if fields else None


def suspicions(world: World, *, closed: bool, kept: frozenset[Op]) -> Shown:
    """Everything of one path. `closed`: the whole program was followed; `kept`: what a caller may still use."""
    yield from _retained(world, kept, closed=closed)
    yield from _piled(world)
    yield from ((("dropped", node, None), fact) for node, fact in dropped(world))
    yield from ((("left out", node, None), fact) for node, fact in left_out(world, kept))
    yield from _old(world)
    yield from _grown(world)
    yield from _kept(world, kept, closed=closed and bool(world.passes))
    yield from _cut_off(world)
    yield from _late(world)
    yield from _constant(world)


def _retained(world: World, kept: frozenset[Op], *, closed: bool) -> Shown:
    """Passes that keep a graph which no later pass walks."""
    for done, is_needed in retained(world, kept, closed=closed):
        line = replace(_line(done, LIKELY if done.is_assumed else SURE), retained=1, followed=1)
        yield ("retained", id(done.site.node), None), None if is_needed else line


def _piled(world: World) -> Shown:
    """Steps that use gradients which an earlier step has used already."""
    for each in world.piled:
        if each.moment and not any(run.imagined for run, _ in each.moment):
            yield ("piled", id(each.stepped.node), None), _optimizer(each)
    edited = {leaf.storage.edited for leaf in world.reached() if leaf.storage.version > 1}
    cleared = {id(site.node) for site in edited if site is not None}
    for node in cleared - {id(each.stepped.node) for each in world.piled}:
        yield ("piled", node, None), None


def _optimizer(piled: Piled) -> OptimizerLine:
    doubt = SURE if piled.optimizer.complete and not piled.source.is_assumed else LIKELY
    return OptimizerLine(
        stack=stack_of(piled.stepped),
        name=piled.optimizer.name,
        adding=stack_of(piled.source.site),
        doubt=weighed_by(doubt, piled.source),
    )


def _old(world: World) -> Shown:
    """Values that are old by the time a later iteration uses them."""
    for each in aged(world):
        part = each.part
        fact = Stale(
            _carried(each.label, part.op, part.enters),
            changed=stack_of(each.change.site),
            is_carried_on=False,
            is_asked_for=part.enters is None,
            created_in_loop=each.is_created_in_loop,
            trained_again=part.is_trained_again,
            is_operand=part.is_operand,
        )
        key: Key = ("old", id(each.later.site.node), id(part.op.site.node))
        yield key, replace(_line(each.later, SURE), stale=(fact,))
    for done in world.passes:
        if done.moment and done.moment[-1][1] > 1:
            created = (op for op in done.ops if op.moment[: len(done.moment)] == done.moment)
            yield from ((("old", id(done.site.node), id(op.site.node)), None) for op in created)


def _grown(world: World) -> Shown:
    """Passes that walk what the same line has walked before, over a change of the parameters."""
    explained = [each.failing for each in world.troubles if isinstance(each, SecondWalk | OldValue)]
    explained += [each.later for each in aged(world)]
    for each in world.regrown:
        is_old = world.changed_between(each.earlier, each.later) and each.later not in explained
        if is_old and each.doubt <= LIKELY and each.earlier.retains:
            carried = _carried(each.label, each.op, each.found[each.op].parent)
            line = replace(_line(each.later, each.doubt), retained=1, is_grown=True, carried=carried)
            yield ("grown", id(each.later.site.node), None), line


def _carried(label: Label | None, op: Op, enters: Op | None) -> Carried:
    name, holder = (None, None) if label is None else (label.name, label.holder)
    return Carried(
        name, holder, certain=True, made=stack_of(op.site), enters=stack_of(None if enters is None else enters.site)
    )


def _kept(world: World, kept: frozenset[Op], *, closed: bool) -> Shown:
    """Names that a loop feeds with graphs which no pass needs any more."""
    for node, each, graphs in kept_graphs(world, closed=closed, kept=kept):
        yield ("kept", node, each.total), None if graphs is None else _holder(graphs)


def _holder(graphs: Kept) -> Holding | Hoard:
    """What passes walked is kept over steps; what none has walked was computed for nothing but its value."""
    each = graphs.collecting
    doubt = weighed_by(each.op.doubt if each.op.walked else LIKELY, each.op)
    name, holder = each.holder.name, each.holder.holder
    fed, created = stack_of(each.site), stack_of(graphs.created)
    if graphs.is_walked:
        return Holding(name, holder, fed, created, of_numbers=graphs.of_numbers, doubt=doubt)
    return Hoard(name, holder, None, fed, created, of_numbers=graphs.of_numbers, doubt=doubt)


def _cut_off(world: World) -> Shown:
    """Parameters that an optimizer owns and no pass reaches, with the cut that keeps passes away."""
    for leaf, fact in cut_off(world):
        yield ("cut", 0, leaf), fact
    for op, fact in detached_terms(world):
        yield ("cut", id(op.site.node), None), fact


def _constant(world: World) -> Shown:
    """Terms of a loss that are made of gradients without a graph."""
    for cut, op, fact in constant_terms(world):
        yield ("constant", id(op.site.node), id(cut.site.node)), fact


def _late(world: World) -> Shown:
    """Passes whose gradients are cleared before a step takes them, after one that came too early."""
    owned = {leaf for each in world.optimizers if each.complete for leaf in each.owned}
    for done in world.passes:
        key: Key = ("late", id(done.site.node), None)
        if done.used or not done.reached:
            yield key, None
        elif done.wasted and done.moment:
            yield key, _wasted(done, owned)


def _wasted(done: Pass, owned: set[Leaf]) -> PassLine | None:
    step: Stack = next(_steps_before(done), ()) if done.missed is None else stack_of(done.missed)
    is_read = any(leaf.gradient_read for leaf in done.reached)
    if not step or is_read or not owned.issuperset(done.reached):
        return None
    return replace(_line(done, LIKELY if done.is_assumed else SURE), gave=Gave(step))


def _steps_before(done: Pass) -> Iterator[Stack]:
    """The steps that have changed what a pass reaches."""
    for leaf in done.reached:
        if leaf.storage.by is not None:
            yield stack_of(leaf.storage.edited)


def _line(done: Pass, doubt: int) -> PassLine:
    return PassLine(stack_of(done.site), done.kind, done.label, doubt=weighed_by(doubt, done))
