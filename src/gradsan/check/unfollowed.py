"""Calls that are not followed: they hand on what they were given, free nothing, and may keep it."""

from collections.abc import Sequence as Several

from gradsan.check.graph import DOUBTFUL, LIKELY, tick
from gradsan.check.machine import Call, Given, Machine
from gradsan.check.new_ops import cut, opaque, result, untyped
from gradsan.check.values import Instance, Layer, Mapping, Optimizer, Sequence, Value, escape, leaves_of, ops_of
from gradsan.knowledge.hints import CUTTING_WORDS, HARMLESS, LOSS_WORDS
from gradsan.knowledge.tensors import operation


def unknown_call(machine: Machine, name: str, call: Call) -> Value:
    """The result of something unknown: it may carry whatever was put in."""
    last = name.rsplit(".", 1)[-1].lower()
    is_loss = any(word in last for word in LOSS_WORDS)
    _let_go(machine, call.given, harmless=is_loss or last in HARMLESS)
    carried = [value for value, _ in call.given if ops_of(value)]
    if last in HARMLESS or not carried:
        return opaque(machine, call.node)
    if operation(last).cuts or any(word in last for word in CUTTING_WORDS):
        return cut(machine, carried[0], f"`{name}`", call.node)
    doubt = LIKELY if is_loss else DOUBTFUL
    return untyped(result(machine, last, call.given, call.node, doubt=doubt, scalar=is_loss))


def _let_go(machine: Machine, given: Several[Given], *, harmless: bool) -> None:
    """What was handed to something unknown may be kept, changed or cleared there."""
    for value, _ in given:
        optimizer, module = value.optimizer or value, value.layer or value
        if isinstance(optimizer, Optimizer):
            machine.world.forget_gradients(machine.world.owned(optimizer))
        elif isinstance(module, Layer | Instance):
            machine.world.forget_gradients(leaves_of(module))
        if not harmless:
            _escape(value)
            machine.world.handed_over += [(tick(), op) for op in ops_of(value)]


def _escape(value: Value) -> None:
    escape(value)
    if isinstance(value, Sequence | Mapping):
        value.exact = False
