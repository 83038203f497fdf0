"""What objects have under a name: `owner.name`, by the kind of owner."""

import ast

from gradsan.check.assumed_modules import as_module, is_module_like
from gradsan.check.function_calls import enter
from gradsan.check.graph import Cut
from gradsan.check.imports import name_in
from gradsan.check.machine import Call, Machine
from gradsan.check.new_ops import cut
from gradsan.check.tables import OWNERS, entered
from gradsan.check.troubles import ReadFreed
from gradsan.check.values import (
    Class,
    Const,
    Context,
    Distribution,
    Function,
    Instance,
    Layer,
    Library,
    Mapping,
    Method,
    Optimizer,
    Partial,
    Scaler,
    Sequence,
    Tensor,
    Value,
    leaves_of,
)
from gradsan.knowledge.tensors import operation
from gradsan.source.disk import locate_import
from gradsan.source.names import dotted


@entered(OWNERS, Library)
def library_attribute(machine: Machine, library: Library, name: str, node: ast.expr) -> Value:
    """`torch.nn`, or a name of a file of the user's."""
    inner = f"{library.path}.{name}"
    if library.file is None:
        return library.attributes.get(name) or Library(path=inner)
    return name_in(machine, library.file, name) or Library(path=inner, file=locate_import(library.file, name, 1))


@entered(OWNERS, Instance)
def instance_attribute(machine: Machine, instance: Instance, name: str, node: ast.expr) -> Value:
    """`self.name`: what was set, what the class defines, or something that nobody was seen to set."""
    known = instance.attributes.get(name)
    if known is not None:
        return known
    found = instance.cls.member(name)
    if isinstance(found, Function):
        return _member_function(machine, instance, found, name, node)
    if found is not None:
        return found
    if name == "training" and instance.cls.is_module:
        return Const(value=True)  # as long as nobody calls `eval()`
    if name == "__dict__":
        return Mapping(entries=instance.attributes, exact=False)  # type: ignore[arg-type] # what is set in one is in the other
    if name.startswith("__"):
        return instance.cls if name == "__class__" else Value()
    if isinstance(instance.base, Layer):
        return layer_attribute(machine, instance.base, name, node)
    instance.guessed.add(name)
    guessed = instance.attributes[name] = Value(label=f"self.{name}", created=machine.site(node))
    return guessed


def _member_function(machine: Machine, instance: Instance, found: Function, name: str, node: ast.expr) -> Value:
    if not found.is_property:
        return Method(function=found, receiver=instance, name=name)
    value = enter(machine, found, Call(node), instance)
    if any(each.endswith("cached_property") for each in found.decorators):
        instance.attributes[name] = value
    return value


@entered(OWNERS, Class)
def class_attribute(machine: Machine, cls: Class, name: str, node: ast.expr) -> Value:
    """`Class.name`."""
    return cls.member(name) or Method(receiver=cls, name=name)


@entered(OWNERS, Layer)
def layer_attribute(machine: Machine, layer: Layer, name: str, node: ast.expr) -> Value:
    """`layer.weight`, `model.head`."""
    child = dict(reversed(layer.children)).get(name)
    if child is not None:
        return child
    if name in ("weight", "bias") and layer.leaf is not None:
        return Tensor(leaf=layer.leaf, part=name)
    if name in ("module", "_orig_mod"):
        return layer
    if layer.assumed and not name.startswith("_") and name not in layer.attributes:
        layer.attributes[name] = Value(label=f"{layer.label}.{name}", created=machine.site(node))
    return layer.attributes.get(name) or Method(receiver=layer, name=name)


@entered(OWNERS, Tensor)
def tensor_attribute(machine: Machine, value: Tensor, name: str, node: ast.expr) -> Value:
    """`tensor.name`, not called."""
    match name:
        case "grad":
            _read_gradients(value)
            return Tensor(of=value)
        case "data":
            bare = cut(machine, value, "`.data`", node)
            bare.of = value
            return bare
        case "grad_fn":
            return Value(of=value)
        case "requires_grad" if value.differentiable:
            return Const(value=True)
    row = operation(name)
    if row.graph == "describes":
        return Value()
    return value if row.attribute and row.rearranges else Method(receiver=value, name=name)


def _read_gradients(value: Tensor) -> None:
    for leaf in leaves_of(value):
        leaf.gradient_read = True
        leaf.use_gradients()


@entered(OWNERS, Optimizer)
def optimizer_attribute(machine: Machine, optimizer: Optimizer, name: str, node: ast.expr) -> Value:
    """`optimizer.param_groups` holds what the optimizer owns."""
    if name != "param_groups":
        return container_attribute(machine, optimizer, name, node)
    owned: list[Value] = [Tensor(leaf=leaf) for leaf in optimizer.owned]
    group = Mapping(entries={"params": Sequence(elements=owned, exact=optimizer.complete)}, exact=False)
    return Sequence(elements=[group], exact=False)


@entered(OWNERS, Sequence, Mapping, Scaler, Distribution, Const, Context, Function, Method, Partial)
def container_attribute(machine: Machine, value: Value, name: str, node: ast.expr) -> Value:
    """What was set there, or a method."""
    return value.attributes.get(name) or Method(receiver=value, name=name)


@entered(OWNERS, Value)
def unknown_attribute(machine: Machine, value: Value, name: str, node: ast.expr) -> Value:
    """An attribute of something unknown: what was seen there before, or a part of what is one op."""
    if value.of is not None and (name == "saved_tensors" or name.startswith("_saved_")):
        return _read_saved(machine, value.of, node)
    known = value.attributes.get(name)
    if known is not None:
        return known
    if value.op is not None:
        return _attribute_of_op(machine, value, name, node)
    module = _module_of(machine, node) if name == "data" else None
    if module is not None:
        return Tensor(of=value, cut=Cut(machine.site(node), "`.data`", leaves=tuple(leaves_of(module))))
    label = f"{value.label}.{name}" if value.label else name
    created = value.attributes[name] = Value(label=label, created=machine.site(node))
    return created


def _module_of(machine: Machine, node: ast.expr) -> Layer | None:
    """Whose weight it is of which `.data` is asked: `model`, of `model.scale.data`."""
    match node:
        case ast.Attribute(ast.Attribute(ast.Name() | ast.Attribute() as owner)) if dotted(owner):
            value = machine.evaluate(owner)
            return as_module(value) if is_module_like(machine, value) else None
    return None


def _attribute_of_op(machine: Machine, value: Value, name: str, node: ast.expr) -> Value:
    if name == "grad_fn":
        return Value(of=value)
    if operation(name).graph == "describes":
        return Value()
    if name in ("data", "grad"):  # of a tensor, or of something that only has such a name
        return Value(opaque=True)
    return machine.part(value, name, node)


def _read_saved(machine: Machine, value: Value, node: ast.expr) -> Value:
    """`out.grad_fn.saved_tensors`."""
    op = value.op
    if op is not None and op.freed is not None and op.saves and not op.freed_doubt:
        machine.world.troubles.append(ReadFreed(machine.site(node), op.freed, value.label))
    return Value()
