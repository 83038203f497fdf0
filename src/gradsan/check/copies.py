"""Copies of values: a copied module has parameters of its own."""

from dataclasses import replace

from gradsan.check.graph import Leaf
from gradsan.check.values import Instance, Layer, Mapping, Sequence, Tensor, Value


def shallow_copy(value: Value) -> Value:
    """Another object with the same attributes."""
    if isinstance(value, Instance):
        return replace(
            value, op=None, made=None, attributes=dict(value.attributes), items={}, running=False, guessed=set()
        )
    return value


def deep_copy(value: Value, known: dict[int, Value]) -> Value:
    """Another object, down to its parameters."""
    if id(value) in known:
        return known[id(value)]
    match value:
        case Layer():
            layer = known[id(value)] = Layer(kind=value.kind, leaf=_leaf(value.leaf), label=value.label)
            layer.assumed = value.assumed
            layer.children = [(name, deep_copy(child, known)) for name, child in value.children]
            return layer
        case Instance():
            made = known[id(value)] = Instance(
                cls=value.cls, label=value.label, hooks=list(value.hooks), compiled=value.compiled
            )
            made.attributes = {name: deep_copy(each, known) for name, each in value.attributes.items()}
            return made
        case Sequence():
            elements = [deep_copy(each, known) for each in value.elements]
            return Sequence(elements=elements, exact=value.exact, kind=value.kind, longest=value.longest)
        case Mapping():
            return Mapping(
                entries={key: deep_copy(each, known) for key, each in value.entries.items()}, exact=value.exact
            )
        case Tensor() if value.leaf is not None:
            return Tensor(leaf=_leaf(value.leaf))
    return value


def _leaf(leaf: Leaf | None) -> Leaf | None:
    return None if leaf is None else Leaf(leaf.name, leaf.module, requires=leaf.requires, assumed=leaf.assumed)
