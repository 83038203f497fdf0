"""What a path shows that no error reports, as facts of a course; and which of them another path shows not to be so."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from gradsan.check.cut_values import constant_terms, cut_off, detached_terms, drawn, terms_in_vain
from gradsan.check.gradient_uses import all_but_last, mixed, piled, wasted
from gradsan.check.graph import LIKELY, SURE, Label, Op, Pass
from gradsan.check.kept_graphs import Kept, kept_graphs
from gradsan.check.retained_graphs import retained
from gradsan.check.spots import stack_of
from gradsan.check.staleness import aged, grown
from gradsan.check.stopped import weighed_by
from gradsan.check.unowned import unowned
from gradsan.check.untaken_losses import dropped, left_out
from gradsan.check.world import World
from gradsan.facts.course import (
    Carried,
    ConstantTerm,
    Course,
    CutOff,
    DroppedLoss,
    Hoard,
    Holding,
    LeftOut,
    OptimizerLine,
    PassLine,
    Stale,
    Unowned,
)

Aspect = Literal[
    "retained",
    "piled",
    "mixed",
    "dropped",
    "waiting",
    "left out",
    "old",
    "grown",
    "kept",
    "cut",
    "late",
    "constant",
    "unowned",
]
Key = tuple[Aspect, int, object]  # in which respect, at which node, and what else parts two facts
Fact = PassLine | OptimizerLine | DroppedLoss | LeftOut | Holding | Hoard | CutOff | ConstantTerm | Unowned


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
    Unowned: "unowned",
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
    yield from ((("piled", node, None), fact) for node, fact in piled(world))
    yield from ((("mixed", node, None), fact) for node, fact in mixed(world))
    yield from ((("dropped", node, how), fact) for node, how, fact in dropped(world))
    yield from ((("left out", node, term), fact) for node, term, fact in left_out(world, kept))
    yield from _old(world)
    yield from _grown(world)
    yield from _kept(world, kept, closed=closed and bool(world.passes))
    yield from _cut_off(world)
    yield from _late(world)
    yield from _constant(world)
    yield from ((("unowned", 0, key), fact) for key, fact in unowned(world))


def _retained(world: World, kept: frozenset[Op], *, closed: bool) -> Shown:
    """Passes that keep a graph which no later pass walks."""
    for done, is_needed in retained(world, kept, closed=closed):
        line = replace(_line(done, LIKELY if done.is_assumed else SURE), retained=1, followed=1)
        yield ("retained", id(done.site.node), None), None if is_needed else line


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
        yield key, replace(_line(each.later, each.doubt), stale=(fact,))
    for done in world.passes:
        if done.moment and done.moment[-1][1] > 1:
            created = (op for op in done.ops if op.moment[: len(done.moment)] == done.moment)
            yield from ((("old", id(done.site.node), id(op.site.node)), None) for op in created)


def _grown(world: World) -> Shown:
    """Passes that walk what the same line has walked before, over a change of the parameters."""
    for each in grown(world):
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
    for op, fact in terms_in_vain(world):
        yield ("cut", id(op.site.node), "in vain"), fact
    for op, fact in drawn(world):
        yield ("cut", id(op.site.node), "drawn"), fact


def _constant(world: World) -> Shown:
    """Terms of a loss that are made of gradients without a graph."""
    for cut, op, fact in constant_terms(world):
        yield ("constant", id(op.site.node), id(cut.site.node)), fact


def _late(world: World) -> Shown:
    """Passes whose gradients are cleared before a step takes them."""
    found = dict(wasted(world))
    for done in world.passes:
        key: Key = ("late", id(done.site.node), done.site.path)
        if done.used or not done.reached:
            yield key, None
        elif done.wasted and done.moment:
            line = _line(done, LIKELY if done.is_assumed else SURE)
            yield key, replace(line, gave=found[done]) if done in found else None
    for done, gave in all_but_last(world):
        yield (
            ("late", id(done.site.node), (*done.site.path, "all but the last")),
            replace(_line(done, LIKELY), gave=gave),
        )


def _line(done: Pass, doubt: int) -> PassLine:
    return PassLine(stack_of(done.site), done.kind, done.label, doubt=weighed_by(doubt, done))
