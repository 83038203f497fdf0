"""Copies of values: a copied module has parameters of its own."""

from collections.abc import Callable
from dataclasses import replace

from gradsan.check.graph import Leaf
from gradsan.check.tables import entered
from gradsan.check.values import Instance, Layer, Mapping, Sequence, Tensor, Value


def shallow_copy(value: Value) -> Value:
    """Another object with the same attributes."""
    if isinstance(value, Instance):
        return replace(
            value, op=None, created=None, attributes=dict(value.attributes), items={}, running=False, guessed=set()
        )
    return value


COPIES: dict[type[Value], Callable[..., Value]] = {}  # (value, known)


def deep_copy(value: Value, known: dict[int, Value]) -> Value:
    """Another object, down to its parameters; `known`: what was copied already."""
    if id(value) not in known:
        handler = COPIES.get(type(value))
        known[id(value)] = value if handler is None else handler(value, known)
    return known[id(value)]


@entered(COPIES, Layer)
def _layer(value: Layer, known: dict[int, Value]) -> Value:
    layer = known[id(value)] = Layer(kind=value.kind, leaf=_leaf(value), label=value.label, assumed=value.assumed)
    layer.children = [(name, deep_copy(child, known)) for name, child in value.children]
    return layer


@entered(COPIES, Instance)
def _instance(value: Instance, known: dict[int, Value]) -> Value:
    created = Instance(cls=value.cls, label=value.label, hooks=list(value.hooks), compiled=value.compiled)
    known[id(value)] = created
    created.attributes = {name: deep_copy(each, known) for name, each in value.attributes.items()}
    return created


@entered(COPIES, Sequence)
def _sequence(value: Sequence, known: dict[int, Value]) -> Value:
    elements = [deep_copy(each, known) for each in value.elements]
    return Sequence(elements=elements, exact=value.exact, kind=value.kind, longest=value.longest)


@entered(COPIES, Mapping)
def _mapping(value: Mapping, known: dict[int, Value]) -> Value:
    return Mapping(entries={key: deep_copy(each, known) for key, each in value.entries.items()}, exact=value.exact)


@entered(COPIES, Tensor)
def _tensor(value: Tensor, known: dict[int, Value]) -> Value:
    return value if value.leaf is None else Tensor(leaf=_leaf(value))


def _leaf(value: Value) -> Leaf | None:
    leaf = value.leaf
    return None if leaf is None else Leaf(leaf.name, leaf.module, requires=leaf.requires, assumed=leaf.assumed)
