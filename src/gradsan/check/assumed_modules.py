"""What is taken for a module though its class is not known: by its name, or by what is asked of it elsewhere."""

import ast
from collections.abc import Sequence as Several
from functools import lru_cache

from gradsan.check.graph import LIKELY, Leaf
from gradsan.check.machine import Call, Given, Machine
from gradsan.check.module_calls import module_method
from gradsan.check.new_ops import result, untyped
from gradsan.check.values import Layer, Value, last_name, leaves_of
from gradsan.knowledge.hints import MODULE_NAMES
from gradsan.knowledge.module_classes import METHODS, PROOF
from gradsan.source.file import Source
from gradsan.source.names import dotted, nodes


def as_module(value: Value) -> Layer:
    """Something unknown that behaves as a module does."""
    if value.layer is None:
        name = value.label or "module"
        value.layer = Layer(kind="?", leaf=Leaf(name, name, assumed=True), label=name, assumed=True)
    return value.layer


def call_assumed(machine: Machine, layer: Layer, given: Several[Given], node: ast.expr) -> Value:
    """The output of a module whose source is not known."""
    leaves = tuple(leaves_of(layer))
    storages = tuple(leaf.storage for leaf in leaves)
    name = layer.label or "module"
    return untyped(result(machine, name, given, node, leaves=leaves, storages=storages, doubt=LIKELY))


def is_module_like(machine: Machine, value: Value) -> bool:
    """Whether its name, or what is asked of it elsewhere, says that it is a module."""
    if value.layer is not None:
        return True
    if value.label is None or type(value) is not Value:
        return False
    return last_name(value) in MODULE_NAMES or value.label in _proven(machine.frame.source)


@lru_cache(maxsize=256)
def _proven(source: Source) -> frozenset[str]:
    """The names in a file whose `.parameters()` is asked for somewhere."""
    called = (node.func for node in nodes(source.tree) if isinstance(node, ast.Call))
    asked = (each for each in called if isinstance(each, ast.Attribute) and each.attr in PROOF)
    return frozenset(dotted(each.value) for each in asked) - {"self", ""}


def answers_as_module(machine: Machine, value: Value, call: Call) -> Value | None:
    """What only modules answer (`parameters`), and what a module answers that is known by its name, is answered so."""
    if value.op is not None:
        return None
    if call.name == "zero_grad":
        machine.world.clear(leaves_of(as_module(value)))
        machine.world.clear([leaf for leaf in machine.world.reached() if leaf.assumed])
        return Value()
    if call.name in ("forward", "__call__") and is_module_like(machine, value):
        return call_assumed(machine, as_module(value), call.given, call.node)
    if call.name not in METHODS or not (call.name in PROOF or is_module_like(machine, value)):
        return None
    answer = module_method(machine, as_module(value), call)
    return value if isinstance(answer, Layer) else answer
