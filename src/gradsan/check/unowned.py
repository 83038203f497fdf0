"""Parameters that passes reach and no optimizer has, where the source shows that one was to have them."""

import ast
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from gradsan.check.graph import Leaf, Op, leaves_in
from gradsan.check.old_part import below
from gradsan.check.spots import stack_of
from gradsan.check.troubles import Exchange, edits_of
from gradsan.check.values import Instance, Layer, Mapping, Optimizer, Sequence, Tensor, Value, leaves_of
from gradsan.check.world import World
from gradsan.facts.course import Forgetting, Slot, Unowned
from gradsan.knowledge.tensors import operation
from gradsan.source.stores import text

_LAYERS = 2  # in a list; a single module is put into one so that it is no part of the model


def unowned(world: World) -> Iterator[tuple[object, Unowned | None]]:
    """By what tells them apart. Without a fact: those that an optimizer has on this path, or may have."""
    yield from _replacing(world)
    yield from _kept_apart(world)


def _replacing(world: World) -> Iterator[tuple[object, Unowned | None]]:
    """What stands in the place of parameters that an optimizer has. What one function replaces is one case."""
    first: dict[object, tuple[object, Unowned]] = {}
    for each in world.exchanges:
        is_used = any(each.number < done.number and not each.old.isdisjoint(done.reached) for done in world.passes)
        having = [one for one in world.optimizers if each.old <= set(one.owned)]
        forgetting = [one for one in having if _is_forgotten(each.new, one, world, each.number, each.edits)]
        if forgetting and not is_used:
            is_late = any(when < each.number and one is forgetting[0] for when, one in world.steps)
            fact = _fact(each.new, forgetting[0], "exchanged" if is_late else "replaced")
            fact = replace(fact, slot=_slot(each), created=stack_of(forgetting[0].created))
            key, known = first.setdefault(each.site.code, (id(each.site.node), fact))
            first[each.site.code] = key, _together(known, fact)
        elif having:
            yield id(each.site.node), None
    yield from first.values()


def _together(one: Unowned, other: Unowned) -> Unowned:
    """One case of both; the attributes of the first come first."""
    if one.slot is None or other.slot is None:
        return one
    known = dict.fromkeys((one.slot.name, *one.slot.also, other.slot.name))
    parameters = tuple(sorted({*one.parameters, *other.parameters}))
    return replace(one, parameters=parameters, slot=replace(one.slot, also=tuple(known)[1:]))


def _slot(exchange: Exchange) -> Slot | None:
    name, site = text(exchange.site.node) if isinstance(exchange.site.node, ast.expr) else None, exchange.site
    if name is None:
        return None
    owner = exchange.owner if name.startswith("self.") else None
    return Slot(name, owner=owner, replaced=stack_of(site), is_parameter=exchange.is_parameter)


def _kept_apart(world: World) -> Iterator[tuple[object, Unowned | None]]:
    """What a module keeps where `parameters()` does not look, though an optimizer has the rest of it."""
    of_modules = {leaf for each in world.modules for leaf in leaves_of(each)}
    hidden = ((each, *found) for each in world.modules if isinstance(each, Instance) for found in _hidden(each))
    for module, name, how, parts in hidden:
        own, leaves = set(leaves_of(module)), {leaf for part in parts for leaf in part}
        for optimizer in world.optimizers if how == "listed" or leaves.isdisjoint(of_modules) else ():
            owned = set(optimizer.owned)
            is_part = any(module in _modules_in(each) for each in world.modules if owned & set(leaves_of(each)))
            if own & owned - leaves if how == "listed" else is_part and own <= owned:
                is_forgotten = all(_is_forgotten(part, optimizer, world) for part in parts)
                yield (id(module.cls.node), name), _fact(leaves, optimizer, how, name) if is_forgotten else None


def _is_forgotten(
    leaves: AbstractSet[Leaf], optimizer: Optimizer, world: World, since: int = 0, edits: int = 0
) -> bool:
    """Whether passes give them gradients, of which nobody makes use, and this optimizer steps without them.

    `since` a moment, before which they had been edited so often.
    """
    reaching = [done.number for done in world.passes if done.number > since and not leaves.isdisjoint(done.reached)]
    is_known = all(each.complete and leaves.isdisjoint(each.owned) for each in world.optimizers)
    is_left = not any(leaf.gradient_read or leaf.assumed for leaf in leaves) and edits_of(leaves) == edits
    steps = [when for when, each in world.steps if each is optimizer]
    return is_known and is_left and bool(reaching and steps) and min(reaching) < max(steps)


def _hidden(module: Instance) -> Iterator[tuple[str, Forgetting, list[set[Leaf]]]]:
    """Its attributes with parameters that no module takes in, and these, by layers."""
    for name, value in module.attributes.items():
        how, parts = _hidden_in(value)
        if parts:
            yield name, how, parts


def _hidden_in(value: Value) -> tuple[Forgetting, list[set[Leaf]]]:
    match value:
        case Sequence() | Mapping():
            layers = list(value.contents)
            is_of_layers = all(each.is_registered for each in layers) and (len(layers) >= _LAYERS or not value.exact)
            return "listed", [set(leaves_of(each)) for each in layers] if is_of_layers else []
        case Tensor(op=Op() as op):
            ops = below([op])
            is_told = any(each.healed for each in ops)  # an error says it
            leaves = set() if is_told or all(map(_may_change_nothing, ops)) else leaves_in(ops)
            return "computed", [leaves] if leaves else []
        case Tensor(leaf=Leaf(registers=False) as leaf):
            return "plain", [{leaf}]
    return "listed", []


def _may_change_nothing(op: Op) -> bool:
    """Whether it may give back what it was given: `nn.Parameter(…).to(device)`, where it is there already."""
    return operation(op.name).memory == "itself if possible"


def _fact(leaves: AbstractSet[Leaf], optimizer: Optimizer, how: Forgetting, kept_in: str | None = None) -> Unowned:
    names = sorted({name for leaf in leaves for name in _names(leaf)})
    steps = (stack_of(each.storage.edited) for each in optimizer.owned if each.storage.by is not None)
    return Unowned(tuple(names), how, kept_in, next(steps, ()), steps=None)


def _names(leaf: Leaf) -> list[str]:
    return sorted(f"{leaf.module}.{each}" for each in leaf.trained_parts) or [leaf.name]


def _modules_in(model: Value) -> list[Value]:
    """A module and all that it has registered."""
    found = [model]
    for module in found:
        found += [each for each in module.registered if isinstance(each, Layer | Instance) and each not in found]
    return found
