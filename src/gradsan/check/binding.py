"""Targets of assignments: what a name, an attribute or an item holds from now on."""

import ast
from collections.abc import Callable

from gradsan.check.gathering import gather, gather_total
from gradsan.check.graph import Label, Leaf
from gradsan.check.machine import Machine
from gradsan.check.new_ops import edit, require, result
from gradsan.check.slots import index
from gradsan.check.tables import TARGETS, entered
from gradsan.check.troubles import Exchange, Rebinding, edits_of
from gradsan.check.values import (
    NONE,
    Const,
    Index,
    Instance,
    Layer,
    Mapping,
    Optimizer,
    Sequence,
    Tensor,
    Value,
    escape,
    is_false,
    key_of,
    leaves_of,
    ops_of,
    whole_number,
)
from gradsan.source.names import last_name


@entered(TARGETS, ast.Name)
def assign_name(machine: Machine, target: ast.Name, value: Value) -> None:
    """`name = value`."""
    name = target.id
    _christen(name, value)
    _rebind(machine, target, value)
    home = machine.frame.home_of(name) if name in machine.frame.foreign else None
    names = (home or machine.frame).names
    gather_total(machine, target, names.get(name), value)
    names[name] = value
    machine.frame.given.pop(name, None)
    machine.world.stores(name)


@entered(TARGETS, ast.Attribute)
def assign_attribute(machine: Machine, target: ast.Attribute, value: Value) -> None:
    """`owner.name = value`."""
    owner, name = machine.evaluate(target.value), target.attr
    gather_total(machine, target, owner.attributes.get(name), value)
    machine.world.stores(name)
    special = SPECIAL.get(name)
    handled = special is not None and special(machine, owner, value, target)
    if not handled and isinstance(owner, Tensor):
        return
    if not handled:
        _note_exchange(machine, owner, owner.attributes.get(name), value, target)
        _store(owner, name, value)
    _christen(f"self.{name}" if isinstance(owner, Instance) else name, value)
    escape(value)


def _note_exchange(machine: Machine, owner: Value, held: Value | None, value: Value, node: ast.AST) -> None:
    """Note that a part of a model is replaced."""
    old = frozenset(() if held is None else leaves_of(held))
    new = frozenset(leaves_of(value) if old else ())
    if old and new and old.isdisjoint(new) and value.is_registered:
        cls = owner.cls.node.name if isinstance(owner, Instance) else None
        is_parameter = isinstance(value, Tensor)
        machine.world.exchanges.append(Exchange(old, new, machine.site(node), edits_of(new), cls, is_parameter))


def _store(owner: Value, name: str, value: Value) -> None:
    if isinstance(owner, Layer):
        owner.children = [(own, child) for own, child in owner.children if own != name]
        owner.children.append((name, value))
        return
    owner.attributes[name] = value
    if isinstance(owner, Instance):
        owner.guessed.discard(name)


# Attributes whose assignment does something: (machine, owner, value, node), and whether that was all.
SPECIAL: dict[str, Callable[[Machine, Value, Value, ast.Attribute], bool]] = {}


@entered(SPECIAL, "donated_buffer")
def _keep_buffers(machine: Machine, owner: Value, value: Value, node: ast.Attribute) -> bool:
    """`torch._functorch.config.donated_buffer = False`."""
    machine.world.donates = machine.world.donates and not is_false(value)
    return False


@entered(SPECIAL, "grad")
def _set_gradient(machine: Machine, owner: Value, value: Value, node: ast.Attribute) -> bool:
    """`p.grad = None` clears; any other value is a gradient that somebody has worked out."""
    if isinstance(owner, Tensor) and owner.leaf is not None:
        machine.world.clear([owner.leaf])
        owner.leaf.reached |= value is not NONE
    return True


@entered(SPECIAL, "data")
def _set_data(machine: Machine, owner: Value, value: Value, node: ast.Attribute) -> bool:
    """`p.data = p.data - …`: other values in a parameter."""
    if not isinstance(owner, Tensor) or owner.leaf is None:
        return False
    machine.world.update(owner.leaf, machine.site(node), counted=False, certain=machine.is_certain)
    return True


@entered(SPECIAL, "requires_grad")
def _require(machine: Machine, owner: Value, value: Value, node: ast.Attribute) -> bool:
    """`p.requires_grad = False`, and `True`."""
    if not isinstance(value, Const):
        return False
    require(machine, owner, node, wanted=bool(value.value))
    return True


@entered(TARGETS, ast.Subscript)
def assign_item(machine: Machine, target: ast.Subscript, value: Value) -> None:
    """`owner[index] = value`."""
    owner = machine.evaluate(target.value)
    if isinstance(target.value, ast.Name | ast.Attribute):
        machine.world.stores(last_name(target.value))
    match owner:
        case Mapping():
            _set_entry(machine, owner, target, value)
        case Sequence():
            _set_element(machine, owner, target, value)
        case Tensor():
            _write_into(machine, owner, value, target)
        case Layer():
            _set_child(machine, owner, target, value)
        case _:
            _set_part(machine, owner, target, value)
    escape(value)


def _set_entry(machine: Machine, owner: Mapping, target: ast.Subscript, value: Value) -> None:
    key = key_of(index(machine, target.slice))
    held = owner.entries.get(key)
    gather_total(machine, target, held, value)
    owner.entries[key] = value
    if held is None and not isinstance(key, str):
        gather(machine, owner, Label(ast.unparse(target.value), "item"), value, machine.site(target))


def _set_element(machine: Machine, owner: Sequence, target: ast.Subscript, value: Value) -> None:
    if isinstance(target.slice, ast.Slice):
        owner.elements = list(value.elements) if isinstance(value, Sequence) else [value]
        return
    slot = machine.evaluate(target.slice)
    position = owner.position(slot)
    if owner.elements:
        at = -1 if position is None else position
        gather_total(machine, target, owner.elements[at], value)
        owner.elements[at] = value
    if position is not None and isinstance(slot, Index) and slot.onwards:  # the iterations to come write the rest
        owner.elements[position + 1 :] = [value] * (len(owner.elements) - position - 1)


def _set_child(machine: Machine, owner: Layer, target: ast.Subscript, value: Value) -> None:
    """`net[-1] = nn.Linear(…)`."""
    at = whole_number(index(machine, target.slice))
    if at is not None and -len(owner.children) <= at < len(owner.children):
        name, held = owner.children[at]
        _note_exchange(machine, owner, held, value, target)
        owner.children[at] = name, value


def _set_part(machine: Machine, owner: Value, target: ast.Subscript, value: Value) -> None:
    key = key_of(index(machine, target.slice))
    gather_total(machine, target, owner.items.get(key), value)
    owner.items[key] = value


def _write_into(machine: Machine, owner: Tensor, value: Value, node: ast.AST) -> None:
    """`tensor[i] = value`: the tensor takes the graph of the value on, beside its own."""
    edit(machine, owner, node)
    if not (ops_of(value) or leaves_of(value) or owner.op):
        return
    written = result(machine, "copy_slices", [(owner, None), (value, None)], node, saves=True)
    if written.op is not None:
        owner.op, owner.created = written.op, written.created


@entered(TARGETS, ast.Starred)
def assign_starred(machine: Machine, target: ast.Starred, value: Value) -> None:
    """`*rest = value`."""
    machine.assign(target.value, value)


@entered(TARGETS, ast.Tuple, ast.List)
def unpack(machine: Machine, target: ast.Tuple | ast.List, value: Value) -> None:
    """`first, second = value`."""
    if isinstance(value, Sequence) and (value.exact or value.elements):
        elements = _spread(machine, target.elts, value)
    else:
        elements = [machine.part(value, position, target) for position, _ in enumerate(target.elts)]
    for each, element in zip(target.elts, elements, strict=False):
        machine.assign(each, element)


def _spread(machine: Machine, targets: list[ast.expr], value: Sequence) -> list[Value]:
    """As many elements as there are targets, of which a starred one takes several."""
    elements = list(value.elements)
    if not value.exact:
        elements += [elements[-1]] * max(0, len(targets) - len(elements))
    starred = next((at for at, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
    if starred is None:
        return elements
    end = len(elements) - (len(targets) - starred - 1)
    rest = Sequence(elements=elements[starred:end], exact=value.exact, born=machine.world.moment)
    return [*elements[:starred], rest, *elements[end:]]


def _christen(name: str, value: Value) -> None:
    """The first name that something gets is what it is called."""
    if type(value) in _WITH_PARAMETERS:
        _name_parameters(name, value)
    if value.label is None and not isinstance(value, Const):
        value.label = name
    if value.op is not None:
        value.op.called = value.op.called or name
    for each in value.elements if isinstance(value, Sequence) else (value,):
        if each.cut is not None and each.op is None:
            each.cut.name = each.cut.name or name


def _name_parameters(name: str, value: Value) -> None:
    match value:
        case Optimizer(name="optimizer"):
            value.name = name
        case Layer() | Instance():
            for leaf in leaves_of(value):
                leaf.module = name.removeprefix("self.")
        case Tensor(leaf=Leaf(name="?") as leaf):
            leaf.name = leaf.module = name


_WITH_PARAMETERS = (Optimizer, Layer, Instance, Tensor)


def _rebind(machine: Machine, target: ast.Name, value: Value) -> None:
    """Note the losses that a loop gives a name."""
    op, moment = value.op, machine.world.moment
    if op is not None and op.scalar and moment and op.moment == moment:
        machine.world.rebindings.append(Rebinding(target.id, op, machine.site(target)))
