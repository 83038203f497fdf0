"""Calls whose source is not known.

A function that cannot be followed hands on whatever it was given, frees nothing, and may keep what it has got
(`unknown_call`). A method of something unknown does the same, unless what it is called, and what it is called on, show
what it does: `RULES` says by what that is recognised, one sentence each, and the first that knows an answer gives it.
"""

import ast
from collections.abc import Callable
from collections.abc import Sequence as Several
from functools import lru_cache

from gradsan.check.graph import DOUBTFUL, LIKELY, Leaf
from gradsan.check.machine import Call, Given, Machine
from gradsan.check.module_calls import module_method
from gradsan.check.new_ops import cut, result, untyped
from gradsan.check.optimizer_calls import as_optimizer, optimizer_method
from gradsan.check.pass_calls import backward
from gradsan.check.tables import CALLEES, RECEIVERS, entered
from gradsan.check.torch_calls import torch_function
from gradsan.check.values import Const, Instance, Layer, Mapping, Optimizer, Sequence, Tensor, Value, leaves_of, ops_of
from gradsan.knowledge.effects import accumulates, asks_for_pass, does
from gradsan.knowledge.hints import (
    CUTTING_WORDS,
    HARMLESS,
    LOSS_WORDS,
    MODULE_NAMES,
    NOT_OPTIMIZER_WORDS,
    OPTIMIZER_WORDS,
    PASS_RECEIVERS,
)
from gradsan.knowledge.module_classes import METHODS, PROOF, RETURN_THE_MODULE
from gradsan.knowledge.tensors import operation
from gradsan.source.file import Source
from gradsan.source.names import dotted


def unknown_call(machine: Machine, name: str, call: Call) -> Value:
    """The result of something unknown: it may carry whatever was put in."""
    last = name.rsplit(".", 1)[-1].lower()
    _let_go(machine, call.given, harmless=last in HARMLESS)
    carried = [value for value, _ in call.given if ops_of(value)]
    if last in HARMLESS or not carried:
        return Value(made=machine.site(call.node), opaque=True)
    if any(word in last for word in CUTTING_WORDS) or operation(last).cuts:
        return cut(machine, carried[0], f"`{name}`", call.node)
    is_loss = any(word in last for word in LOSS_WORDS)
    doubt = LIKELY if is_loss else DOUBTFUL
    return untyped(result(machine, last, call.given, call.node, doubt=doubt, scalar=is_loss))


def _let_go(machine: Machine, given: Several[Given], *, harmless: bool) -> None:
    """What was handed to something unknown may be kept, changed or cleared there."""
    for value, _ in given:
        if isinstance(value, Optimizer):
            machine.world.forget_gradients(machine.world.owned(value))
        elif isinstance(value, Layer | Instance):
            machine.world.forget_gradients(leaves_of(value))
        if not harmless:
            _escape(value)


def _escape(value: Value) -> None:
    for op in ops_of(value):
        op.escaped = True
    if isinstance(value, Sequence | Mapping):
        value.exact = False


@entered(CALLEES, Value)
def call_value(machine: Machine, value: Value, call: Call) -> Value:
    """Something unknown is called."""
    if value.op is not None:
        return unknown_call(machine, value.label or "?", call.on((value, None)))
    if is_module_like(machine, value):
        return call_assumed(machine, as_module(value), call.given, call.node)
    return unknown_call(machine, value.label or "?", call)


@entered(RECEIVERS, Const)
def constant_method(machine: Machine, value: Const, call: Call) -> Value:
    """Methods of texts and numbers have no graph in their hands."""
    return Value(made=machine.site(call.node))


@entered(RECEIVERS, Value)
def unknown_method(machine: Machine, value: Value, call: Call) -> Value:
    """A method of something unknown: what was stored there, what a rule recognises, or anything at all."""
    stored = value.attributes.get(call.name)
    if stored is not None:
        return machine.call(stored, call)
    for rule in RULES:
        answer = rule(machine, value, call)
        if answer is not None:
            return answer
    return unknown_call(machine, call.name, call.on(call.receiver(value)))


def _asks_for_a_pass(machine: Machine, value: Value, call: Call) -> Value | None:
    """`backward` asks for a pass: over the loss that it is given (`engine.backward(loss)`), or that it is called on."""
    if not asks_for_pass(call.name) or not accumulates(call.name):
        return None
    if value.op is None and "loss" in call.keywords:
        others = {key: each for key, each in call.keywords.items() if key != "loss"}
        return backward(machine, call.keywords["loss"], call._replace(keywords=others))
    if value.op is None and _is_loss(value, call.first):
        return backward(machine, call.arguments[0], call.rest)
    return backward(machine, call.receiver(value), call)


def _is_loss(receiver: Value, first: Value | None) -> bool:
    if first is None or isinstance(first, Const):
        return False
    return _is_called(receiver, PASS_RECEIVERS) or bool(ops_of(first))


def _steps_as_optimizer(machine: Machine, value: Value, call: Call) -> Value | None:
    """`step` and `zero_grad` of something that is called an optimizer are those of one."""
    if call.name not in ("step", "zero_grad"):
        return None
    is_one = _is_called(value, OPTIMIZER_WORDS) and not _is_called(value, NOT_OPTIMIZER_WORDS)
    if is_one or value.optimizer is not None:
        return optimizer_method(machine, as_optimizer(machine, value), call)
    return None


def _answers_as_module(machine: Machine, value: Value, call: Call) -> Value | None:
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


def _prepares(machine: Machine, value: Value, call: Call) -> Value | None:
    """`prepare` and its like hand back what they were given."""
    if not does(call.name, "wraps"):
        return None
    values = call.values
    return values[0] if len(values) == 1 else Sequence(elements=values, kind="tuple")


def _is_the_same(machine: Machine, value: Value, call: Call) -> Value | None:
    """What is moved, cast or given another shape is the same thing still, whatever it is."""
    row = operation(call.name)
    rearranged = row.rearranges and row.returns == "tensor"
    return value if rearranged or call.name in RETURN_THE_MODULE else None


def _answers_as_tensor(machine: Machine, value: Value, call: Call) -> Value | None:
    """What has a graph is taken for a tensor, where only a tensor has such a method."""
    if value.op is None:
        return None
    row = operation(call.name)
    if row.cuts:
        return cut(machine, value, f"`.{call.name}()`", call.node)
    if row.graph == "describes":
        return Value()
    if value.op.doubt > LIKELY or row.is_assumed:
        return None
    made = torch_function(machine, call.name, call.on(call.receiver(value)))
    return untyped(made) if isinstance(made, Tensor) else made


RULES: tuple[Callable[[Machine, Value, Call], Value | None], ...] = (
    _asks_for_a_pass,
    _steps_as_optimizer,
    _answers_as_module,
    _prepares,
    _is_the_same,
    _answers_as_tensor,
)


def as_module(value: Value) -> Layer:
    """Something unknown that behaves as a module does."""
    if value.layer is None:
        name = value.label or "module"
        value.layer = Layer(kind="?", leaf=Leaf(name, name, assumed=True), label=name, assumed=True)
    return value.layer


def call_assumed(machine: Machine, layer: Layer, given: Several[Given], node: ast.expr) -> Value:
    """The output of a module whose source is not known."""
    leaf = layer.leaf
    leaves, storages = ((), ()) if leaf is None else ((leaf,), (leaf.storage,))
    name = layer.label or "module"
    return untyped(result(machine, name, given, node, leaves=leaves, storages=storages, doubt=LIKELY))


def is_module_like(machine: Machine, value: Value) -> bool:
    """Whether its name, or what is asked of it elsewhere, says that it is a module."""
    if value.layer is not None:
        return True
    if value.label is None or type(value) is not Value:
        return False
    return _last_name(value) in MODULE_NAMES or value.label in _proven(machine.frame.source)


@lru_cache(maxsize=256)
def _proven(source: Source) -> frozenset[str]:
    """The names in a file whose `.parameters()` is asked for somewhere."""
    calls = (node.func for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    asked = (each for each in calls if isinstance(each, ast.Attribute) and each.attr in PROOF)
    return frozenset(dotted(each.value) for each in asked) - {"self", ""}


def _is_called(value: Value, words: Several[str]) -> bool:
    """Whether one of the words is in the last name that leads to it."""
    name = _last_name(value)
    return any(word in name for word in words)


def _last_name(value: Value) -> str:
    return (value.label or "").rsplit(".", 1)[-1].lower()
