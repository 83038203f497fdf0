"""Layers of torch.nn: `nn.Linear(3, 4)`, what calling one does, and the methods of its containers."""

import ast
from collections.abc import Sequence as Several
from dataclasses import replace

from gradsan.check.assumed_modules import call_assumed
from gradsan.check.graph import Leaf, Storage
from gradsan.check.machine import Call, Given, Machine
from gradsan.check.module_calls import after_forward, as_compiled, module_method
from gradsan.check.new_ops import result
from gradsan.check.tables import CALLEES, RECEIVERS, TORCH, entered
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import Const, Instance, Layer, Mapping, Sequence, Tensor, Value, has_graph, is_false
from gradsan.knowledge.module_classes import is_loss, module_class


def new_layer(machine: Machine, kind: str, call: Call) -> Value:
    """`nn.Linear(…)`."""
    row = module_class(kind)
    if row.holds:
        container = Layer(kind=kind, children=_children(kind, call.values))
        machine.world.modules.append(container)
        return container
    if not row.parameters:
        return Layer(kind=kind)
    parts = {"weight"} if not row.bias or is_false(call.keyword("bias")) else {"weight", "bias"}
    return Layer(kind=kind, leaf=Leaf(kind, kind, origin=machine.origin(call.node), trained_parts=parts))


@entered(TORCH, "Parameter", "UninitializedParameter")
def new_parameter(machine: Machine, call: Call) -> Value:
    """`nn.Parameter(…)`."""
    requires = not is_false(call.keyword("requires_grad"))
    return Tensor(leaf=Leaf("?", "?", requires=requires, origin=machine.origin(call.node)))


def _children(kind: str, values: list[Value]) -> list[tuple[str, Value]]:
    first = values[0] if values else None
    if isinstance(first, Mapping):
        return [(str(key), each) for key, each in first.entries.items()]
    if isinstance(first, Sequence) and (kind != "Sequential" or len(values) == 1):
        values = first.elements
    return [(str(at), each) for at, each in enumerate(values)]


@entered(CALLEES, Layer)
def call_layer(machine: Machine, layer: Layer, call: Call) -> Value:
    """The output of a layer, after its hooks have seen it."""
    value = as_compiled(machine, layer, _output(machine, layer, call.given, call.node), call.node)
    if not layer.hooks:
        return value
    with machine.within(replace(machine.frame, receiver=Instance(running=True))):
        return after_forward(machine, layer, call.given, value, call.node)


def _output(machine: Machine, layer: Layer, given: Several[Given], node: ast.expr) -> Value:
    if layer.assumed:
        return call_assumed(machine, layer, given, node)
    if layer.kind == "Sequential":
        return _chain(machine, layer, given, node)
    row = module_class(layer.kind)
    if row.holds:
        return Value()
    leaves = [layer.leaf] if layer.leaf is not None else []
    entering = any(has_graph(value) for value, _ in given)
    # Loops are followed for two iterations: the state of the first is data, that of any later one has a graph.
    carried = row.carries and len(given) > 1 and bool(machine.world.moment)
    keeps = row.saves_weight == "always" or (row.saves_weight == "with a graph" and (entering or carried))
    created = result(
        machine,
        layer.kind,
        given,
        node,
        saves=row.saves,
        scalar=is_loss(layer.kind),
        leaves=tuple(leaves),
        storages=(*(leaf.storage for leaf in leaves if keeps), *_inputs(layer, given)),
    )
    return _shaped(layer.kind, created)


def _inputs(layer: Layer, given: Several[Given]) -> list[Storage]:
    """What a layer saves of what it is given: all of it, for the gradient of its weights."""
    if layer.leaf is None or not layer.leaf.requires:
        return []
    return [value.memory for value, _ in given if isinstance(value, Tensor)]


def _chain(machine: Machine, layer: Layer, given: Several[Given], node: ast.expr) -> Value:
    for _, child in layer.children:
        given = [(machine.call(child, Call(node, given)), None)]
    return given[0][0] if given else Value()


def _shaped(kind: str, created: Tensor) -> Value:
    both = Sequence(elements=[created, created], kind="tuple")
    match module_class(kind).output:
        case "pair":
            return both
        case "pair with a pair":
            return Sequence(elements=[created, both], kind="tuple")
    return created


@entered(RECEIVERS, Layer)
def layer_method(machine: Machine, layer: Layer, call: Call) -> Value:
    """`layer.name(...)`: what every module answers, and what containers of modules do."""
    if call.name in ("forward", "__call__"):
        return call_layer(machine, layer, call)
    answer = module_method(machine, layer, call)
    return answer or _container_method(machine, layer, call) or unknown_call(machine, call.name, call)


def _container_method(machine: Machine, layer: Layer, call: Call) -> Value | None:
    match call.name:
        case "append" | "insert" if call.arguments:
            return _extend(layer, call.values[-1:])
        case "extend" if call.arguments:
            return _extend(layer, machine.elements(call.values[0], call.node))
        case "items":
            pairs = [Sequence(elements=[Const(value=key), each], kind="tuple") for key, each in layer.children]
            return Sequence(elements=[*pairs])
        case "values":
            return Sequence(elements=[each for _, each in layer.children])
        case "keys":
            return Sequence(elements=[Const(value=key) for key, _ in layer.children])
    return None


def _extend(layer: Layer, added: list[Value]) -> Layer:
    layer.children += [(str(at), each) for at, each in enumerate(added, len(layer.children))]
    return layer
