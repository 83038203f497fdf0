"""What a path did wrong without any error: recognised when it has come to its end."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from gradsan.check.graph import LIKELY, SURE, Label, Leaf, Op, Pass
from gradsan.check.spots import stack_of
from gradsan.check.troubles import Collecting, KeptDonated, OldValue, Regrown, SecondWalk
from gradsan.check.walking import way_to
from gradsan.check.world import World

if TYPE_CHECKING:  # what only types need is not loaded: most checks find nothing
    from gradsan.causes.cause import Role
    from gradsan.check.staleness import Aged
    from gradsan.facts.incident import Stack
    from gradsan.report import FixKind

Key = tuple[str, int, str]  # the code, the node it is about, and what else tells two cases apart


@dataclass(frozen=True, slots=True)
class Silence:
    """A silent problem on one path."""

    code: str
    sentence: str
    remedies: "tuple[FixKind, ...]"
    places: "dict[Role, Stack]"
    label: Label | None
    doubt: int
    guarded: bool = False


@dataclass(slots=True)
class Heard:
    """What one path showed, and what it showed not to be so."""

    found: dict[Key, Silence] = field(default_factory=dict)
    refuted: set[Key] = field(default_factory=set)


def listen(world: World, *, closed: bool, kept: frozenset[Op]) -> Heard:
    """All silent problems of a path. `closed`: the whole program was followed; `kept`: what a caller may still use."""
    heard = Heard()
    explained = _explained(world)
    _needless_retains(world, heard, explained, closed=closed, kept=kept)
    _missing_clears(world, heard)
    _dropped_losses(world, heard)
    stale = _stale(world, heard)
    _growing(world, heard, stale)
    _leaks(world, heard, closed=closed and bool(world.passes), kept=kept)
    _cut_off(world, heard)
    _late(world, heard)
    return heard


def _explained(world: World) -> set[int]:
    """Passes whose retained graph led to something worse, by the node of their call."""
    nodes = {id(each.earlier.site.node) for each in world.regrown}
    for trouble in world.troubles:
        if isinstance(trouble, SecondWalk | OldValue | KeptDonated):
            nodes.add(id(trouble.failing.site.node))
        if isinstance(trouble, SecondWalk | OldValue):
            nodes |= {id(done.site.node) for done in trouble.op.walked}
            nodes.add(id(trouble.failing.site.node))
    return nodes


def _needless_retains(world: World, heard: Heard, explained: set[int], *, closed: bool, kept: frozenset[Op]) -> None:
    for done in world.passes:
        if not done.keeps:
            continue
        key = ("GS302", id(done.site.node), "")
        again = any(other is not done and other.number > done.number for op in done.ops for other in op.walked)
        open_end = not closed and any(op in kept or op.escaped for op in done.ops)
        if again or open_end or id(done.site.node) in explained or _assumed(done):
            heard.refuted.add(key)
            continue
        heard.found[key] = Silence(
            "GS302",
            f"`retain_graph=True` keeps the graph of {_named(done.label, 'the loss')}, and no later pass uses it",
            ("remove-retain",),
            {"used": stack_of(done.site)},
            _label(done.label),
            SURE,
            done.guarded,
        )


def _missing_clears(world: World, heard: Heard) -> None:
    piled = {(id(each.stepped.node)) for each in world.piled}
    for each in world.piled:
        if not each.moment or any(run.imagined for run, _ in each.moment):
            continue
        doubt = SURE if each.optimizer.complete and not _assumed(each.source) else LIKELY
        heard.found["GS303", id(each.stepped.node), ""] = Silence(
            "GS303",
            f"every step of `{each.optimizer.name}` uses the gradients of the steps before as well: nothing clears "
            "them",
            ("zero-grad",),
            {"changed": stack_of(each.stepped), "used": stack_of(each.source.site)},
            Label(each.optimizer.name, "optimizer"),
            doubt,
            each.source.guarded,
        )
    for leaf in {leaf for done in world.passes for leaf in done.reached}:
        edited = leaf.storage.edited
        if edited is not None and id(edited.node) not in piled and leaf.storage.version > 1:
            heard.refuted.add(("GS303", id(edited.node), ""))


def _dropped_losses(world: World, heard: Heard) -> None:
    by_name: dict[tuple[int, int], list[tuple[int, Op, str]]] = {}
    for each in world.rebindings:
        run, number = each.op.moment[-1]
        by_name.setdefault((id(each.site.node), id(run)), []).append((number, each.op, each.name))
    for (node, _), bound in by_name.items():
        rounds = {number: (op, name) for number, op, name in bound}
        if len(rounds) < 2:  # noqa: PLR2004 # one round overwrites nothing
            continue
        first, last = rounds[min(rounds)][0], rounds[max(rounds)][0]
        key = ("GS304", node, "")
        run = last.moment[-1][0]
        after = [done for done in last.walked if all(other is not run for other, _ in done.moment)]
        if first.walked or not after or first.users or first.escaped:
            heard.refuted.add(key)
            continue
        name = rounds[max(rounds)][1]
        heard.found[key] = Silence(
            "GS304",
            f"`{name}` is overwritten in every round and back-propagated only after the loop: only the last round "
            "trains",
            ("move-into-loop", "combine-losses") if after[0].site.code == last.site.code else ("combine-losses",),
            {"made": stack_of(last.site)},
            Label(name, "local"),
            max(first.doubt, last.doubt),
            first.guarded or last.guarded,
        )


def _stale(world: World, heard: Heard) -> set[int]:
    """Values that are old by the time a later iteration uses them; answers with the passes that do, by their ids."""
    found: list[Aged] = []
    if any(len(op.walked) > 1 for done in world.passes for op in done.ops):
        from gradsan.check.staleness import aged

        found = list(aged(world))
    for each in found:
        heard.found["GS308", id(each.later.site.node), str(id(each.op.site.node))] = _out_of_date(each)
    for done in world.passes:
        is_later = bool(done.moment) and done.moment[-1][1] > 1
        again = [op for op in done.ops if op.moment[: len(done.moment)] == done.moment] if is_later else []
        heard.refuted |= {("GS308", id(done.site.node), str(id(op.site.node))) for op in again}
    return {id(each.later) for each in found}


def _out_of_date(aged: "Aged") -> Silence:
    from gradsan.causes.stale_graph import StaleGraph
    from gradsan.facts.course import Carried, Stale

    made, label = stack_of(aged.op.site), aged.label
    fact = Stale(
        Carried(None, None, certain=True, made=made, enters=()),
        is_carried_on=False,
        is_asked_for=aged.enters is None,
        made_in_loop=aged.is_made_in_loop,
        trained_anew=aged.is_trained_anew,
        is_term=aged.is_term,
        is_operand=aged.is_operand,
    )
    places: dict[Role, Stack] = {
        "made": made,
        "changed": stack_of(aged.change.site),
        "used": stack_of(aged.later.site),
    }
    if aged.enters is not None:
        places["enters"] = stack_of(aged.enters.site)
    name = None if label is None else label.name
    return Silence("GS308", StaleGraph.sentence_of(name, 0), StaleGraph.fixes_of(fact), places, label, SURE)


def _growing(world: World, heard: Heard, stale: set[int]) -> None:
    failing = {id(each.failing) for each in world.troubles if isinstance(each, SecondWalk | OldValue)}
    for each in world.regrown:
        if id(each.later) in failing | stale or not world.changed_between(each.earlier, each.later):
            continue
        if each.doubt > LIKELY or not each.earlier.retains:
            continue
        label = _carried(each)
        places: dict[Role, Stack] = {"used": stack_of(each.later.site)}
        enters = each.found[each.op].parent
        if enters is not None:
            places["enters"] = stack_of(enters.site)
        heard.found["GS305", id(each.later.site.node), ""] = Silence(
            "GS305",
            f"{_named(label.name if label else None, 'something')} carries the history of all earlier steps into "
            "every pass",
            ("detach", "remove-retain"),
            places,
            label,
            each.doubt,
            each.later.guarded,
        )


def _carried(grown: Regrown) -> Label | None:
    for op in way_to(grown.op, grown.found):
        edge = grown.found[op].edge
        if edge is not None and edge.label is not None:
            return edge.label
    return None


def _leaks(world: World, heard: Heard, *, closed: bool, kept: frozenset[Op]) -> None:
    troubled = {id(op) for each in world.troubles if isinstance(each, SecondWalk) for op in each.found}
    for (node, _), each in world.collecting.items():
        key = ("GS301", node, "")
        if each.op.doubt > (LIKELY if each.op.scalar else SURE):
            continue
        if not _leaks_history(each, closed=closed, kept=kept) or any(id(op) in troubled for op in each.ops):
            heard.refuted.add(key)
            continue
        heard.found[key] = Silence(
            "GS301",
            f"`{each.name}` keeps the history of every round alive: it is fed with tensors, not with numbers",
            _kept_as(each) if each.op.walked else ("no-grad", *_kept_as(each)),
            {"made": stack_of(each.op.edges[-1].op.site if each.total and each.op.edges else each.op.site),
             "held": stack_of(each.site)},
            each.holder,
            each.op.doubt if each.op.walked else LIKELY,
            each.op.guarded,
        )  # fmt: skip


def _kept_as(each: Collecting) -> "tuple[FixKind, ...]":
    """Only what has one element can be kept as a number."""
    fed = [edge.op for edge in each.op.edges] if each.total else [each.op]
    return ("item", "detach") if each.op.scalar or any(op.scalar for op in fed) else ("detach",)


def _leaks_history(each: Collecting, *, closed: bool, kept: frozenset[Op]) -> bool:
    """Whether what was gathered is of no use to any pass any more."""
    if each.total:
        if each.op.walked:
            return False
        fed = [_unscaled(edge.op) for edge in each.op.edges]
        done = all(_walked_at_once(op, each) for op in fed if op.walked) and any(op.walked for op in fed)
        unused = not each.op.users and each.op not in kept and not any(op.walked for op in fed)
        forgotten = closed and each.op.scalar and unused
        return done or forgotten
    if any(not _walked_at_once(op, each) for op in each.ops if op.walked):
        return False
    if all(op.walked for op in each.ops):
        return True
    return closed and not any(op.walked or op.users for op in each.ops)


def _unscaled(op: Op) -> Op:
    """What a number was multiplied with: `loss * len(batch)` is fed, and the pass took the loss."""
    while not op.walked and op.scalar and len(op.edges) == 1:
        op = op.edges[0].op
    return op


def _walked_at_once(op: Op, each: Collecting) -> bool:
    """Whether all passes over an op ran in the round that gathered it."""
    rounds = [moment for moment in (op.moment,) if moment]
    return all(
        any(run is each.run and (run, number) in done.moment for moment in rounds for run, number in moment)
        for done in op.walked
    )


def _cut_off(world: World, heard: Heard) -> None:
    """Parameters that an optimizer owns and no pass reaches, with the cut that keeps passes away."""
    trained = {leaf: each.name for each in world.optimizers if each.complete and each.steps for leaf in each.owned}
    for cut, op in world.cut_into:
        if not op.walked:
            continue
        beyond = set(cut.leaves) | {leaf for each in _below(cut.ops) for leaf in each.leaves}
        lost = [leaf for leaf in beyond if leaf in trained and leaf.requires]
        for leaf in lost:
            key = ("GS306", id(cut.site.node), f"{leaf.module}.{leaf.name}")
            if leaf.reached or leaf.assumed:
                heard.refuted.add(key)
        if not lost or any(leaf.reached or leaf.assumed for leaf in lost):
            continue
        leaf = lost[0]
        heard.found["GS306", id(cut.site.node), f"{leaf.module}.{leaf.name}"] = Silence(
            "GS306",
            f"{cut.how} cuts parameters of `{leaf.module}` off from the loss: `{trained[leaf]}` is to train them, and "
            "no gradient reaches them",
            ("re-attach",),
            {"cut": stack_of(cut.site)},
            Label(cut.name or leaf.module, "local"),
            LIKELY,
            op.guarded,
        )


def _late(world: World, heard: Heard) -> None:
    owned = {leaf: each for each in world.optimizers if each.complete for leaf in each.owned}
    for done in world.passes:
        key = ("GS307", id(done.site.node), "")
        if done.used or not done.reached:
            heard.refuted.add(key)
            continue
        if not done.wasted or done.kind != "backward" or not done.moment:
            continue
        steps = _steps_before(done.reached, owned)
        if steps is None or any(leaf.gradient_read for leaf in done.reached):
            heard.refuted.add(key)
            continue
        heard.found[key] = Silence(
            "GS307",
            f"{_named(done.label, 'a loss')} is back-propagated after the step, and its gradients are cleared before "
            "the next one: it trains nothing",
            ("reorder", "combine-losses"),
            {"changed": steps, "used": stack_of(done.site)},
            _label(done.label),
            LIKELY if _assumed(done) else SURE,
            done.guarded,
        )


def _steps_before(leaves: tuple[Leaf, ...], owned: Collection[Leaf]) -> "Stack | None":
    """The step that came before; None: some of the leaves belong to nobody, or nothing stepped."""
    if any(leaf not in owned for leaf in leaves if leaf.requires):
        return None
    stepped = [leaf.storage.edited for leaf in leaves if leaf.storage.by is not None]
    return stack_of(stepped[0]) if stepped else None


def _below(ops: tuple[Op, ...]) -> Iterator[Op]:
    seen = set(ops)
    waiting = list(ops)
    while waiting:
        op = waiting.pop()
        yield op
        for edge in op.edges:
            if edge.op not in seen:
                seen.add(edge.op)
                waiting.append(edge.op)


def _assumed(done: Pass) -> bool:
    return not done.reached or any(leaf.assumed for leaf in done.reached) or any(op.doubt for op in done.ops)


def _named(name: str | None, otherwise: str) -> str:
    return f"`{name}`" if name else otherwise


def _label(name: str | None) -> Label | None:
    holder: Literal["attribute", "local"] = "attribute" if name and "." in name else "local"
    return Label(name, holder) if name else None
