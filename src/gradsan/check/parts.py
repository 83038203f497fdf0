"""Parts of what is no container, and what iterating gives: `output[0]`, `layers[-1]`, `for batch in loader`."""

import ast

from gradsan.check.function_calls import enter
from gradsan.check.graph import DOUBTFUL, LIKELY, Op
from gradsan.check.holding import field_values
from gradsan.check.machine import Call, Machine
from gradsan.check.new_ops import result
from gradsan.check.tables import ITERABLES, WHOLES, entered
from gradsan.check.values import (
    Const,
    Function,
    Instance,
    Layer,
    Mapping,
    Sequence,
    Tensor,
    Value,
    constant_of,
)
from gradsan.knowledge.hints import OUTPUT_WORDS
from gradsan.knowledge.tensors import operation

_NAMED = ("ModuleDict", "ParameterDict")
_FOLLOWED = range(2)  # elements of what is not known in full


@entered(WHOLES, Tensor)
def tensor_part(machine: Machine, value: Tensor, key: object, node: ast.expr) -> Value:
    """A part of a tensor has its graph; `a, b = …` shows that an operation that is not known gives several."""
    if isinstance(node, ast.Tuple | ast.List) and value.op is not None and operation(value.op.name).is_assumed:
        doubt = LIKELY if key == 0 else DOUBTFUL
        return result(machine, value.op.name, [(value, None)], node, saves=False, doubt=doubt)
    return Tensor(op=value.op, leaf=value.leaf, cut=value.cut, storage=value.storage, created=value.created)


@entered(WHOLES, Const)
def constant_part(machine: Machine, value: Const, key: object, node: ast.expr) -> Value:
    """A part of a text."""
    return Value()


@entered(WHOLES, Layer)
def layer_part(machine: Machine, layer: Layer, key: object, node: ast.expr) -> Value:
    """`layers[0]`, `heads["age"]`; some layer, where the key is not known."""
    children = dict(reversed(layer.children))
    if isinstance(key, str | int) and str(key) in children:
        return children[str(key)]
    in_range = isinstance(key, int) and -len(layer.children) <= key < len(layer.children)
    at = key if in_range else -1
    return layer.children[at][1] if layer.children and isinstance(at, int) else Value()


@entered(WHOLES, Instance)
def instance_part(machine: Machine, value: Instance, key: object, node: ast.expr) -> Value:
    """A field of a record, or what `__getitem__` answers."""
    fields = value.cls.fields
    if isinstance(key, int) and value.cls.plain and 0 <= key < len(fields):
        return value.attributes.get(fields[key]) or Value()
    getter = value.cls.member("__getitem__")
    if not isinstance(getter, Function):
        return Value() if value.base is None else machine.part(value.base, key, node)
    argument = constant_of(key)
    return enter(machine, getter, Call(node, [(argument, None)]), value)


@entered(WHOLES, Value)
def unknown_part(machine: Machine, value: Value, key: object, node: ast.expr) -> Value:
    """A part of something unknown: the same again under the same key."""
    if key not in value.items:
        op, basis = _op_of_part(machine, value, key, node), (value,) if value.opaque else ()
        value.items[key] = Value(op=op, created=machine.site(node), opaque=value.opaque, since=value.since, basis=basis)
    return value.items[key]


def _op_of_part(machine: Machine, value: Value, key: object, node: ast.expr) -> Op | None:
    """One output of an unknown module may have little in common with another."""
    op = value.op
    if op is None or op.doubt == 0:
        return op
    likely = not isinstance(key, str) or any(word in key for word in OUTPUT_WORDS)
    name = key if isinstance(key, str) else "getitem"
    doubt = LIKELY if likely else DOUBTFUL
    part = result(machine, name, [(value, None)], node, saves=False, doubt=doubt, scalar=op.scalar).op or op
    part.is_part = True
    return part


@entered(ITERABLES, Sequence)
def sequence_elements(machine: Machine, value: Sequence, node: ast.expr) -> list[Value]:
    """All of them."""
    return list(value.elements)


@entered(ITERABLES, Mapping)
def mapping_elements(machine: Machine, value: Mapping, node: ast.expr) -> list[Value]:
    """Its keys."""
    return [constant_of(key) for key in value.entries]


@entered(ITERABLES, Layer)
def layer_elements(machine: Machine, layer: Layer, node: ast.expr) -> list[Value]:
    """The modules in a container, or their names."""
    if layer.assumed:
        return unknown_elements(machine, layer, node)
    return [Const(value=name) if layer.kind in _NAMED else child for name, child in layer.children]


@entered(ITERABLES, Instance)
def instance_elements(machine: Machine, value: Instance, node: ast.expr) -> list[Value]:
    """The fields of a named tuple, or the modules in a container."""
    if isinstance(value.base, Layer):
        return layer_elements(machine, value.base, node)
    return field_values(value) if value.cls.is_named_tuple else unknown_elements(machine, value, node)


@entered(ITERABLES, Tensor)
def tensor_elements(machine: Machine, value: Tensor, node: ast.expr) -> list[Value]:
    """Two parts of it stand for all."""
    return [machine.part(value, number, node) for number in _FOLLOWED]


@entered(ITERABLES, Value)
def unknown_elements(machine: Machine, value: Value, node: ast.expr) -> list[Value]:
    """Two things that have its graph, if it has one."""
    if value.op is None and not value.opaque:
        return [Value() for _ in _FOLLOWED]
    return [machine.part(value, ("element", number), node) for number in _FOLLOWED]
