"""Calls that are not followed: they hand on what they were given, free nothing, and may keep it."""

from collections.abc import Sequence as Several
from functools import lru_cache

from gradsan.check.graph import DOUBTFUL, LIKELY, tick
from gradsan.check.machine import Call, Given, Machine
from gradsan.check.new_ops import cut, opaque, result, untyped
from gradsan.check.values import Instance, Layer, Mapping, Optimizer, Sequence, Value, escape, leaves_of, ops_of
from gradsan.knowledge.hints import CUTTING_WORDS, HARMLESS, LOSS_WORDS
from gradsan.knowledge.tensors import operation


def unknown_call(machine: Machine, name: str, call: Call) -> Value:
    """The result of something unknown: it may carry whatever was put in."""
    _, is_loss, is_harmless, _ = _said_by(name)
    if not is_loss and not is_harmless:
        _hand_over(machine, call.given)
    answer = _answer(machine, name, call)
    _let_clear(machine, call.given, answer)
    return answer


@lru_cache(maxsize=4096)
def _said_by(name: str) -> tuple[str, bool, bool, bool]:
    """The last part of a name; and whether it is that of a loss, of what is harmless, or of what cuts."""
    last = name.rsplit(".", 1)[-1].lower()
    is_loss, is_cut = (any(word in last for word in words) for words in (LOSS_WORDS, CUTTING_WORDS))
    return last, is_loss, last in HARMLESS, is_cut or operation(last).cuts


def _answer(machine: Machine, name: str, call: Call) -> Value:
    last, is_loss, is_harmless, is_cut = _said_by(name)
    carried = None if is_harmless else next((value for value, _ in call.given if ops_of(value)), None)
    if carried is None:
        return opaque(machine, call.node)
    if is_cut:
        return cut(machine, carried, f"`{name}`", call.node)
    doubt = LIKELY if is_loss else DOUBTFUL
    return untyped(result(machine, last, call.given, call.node, doubt=doubt, scalar=is_loss))


def _hand_over(machine: Machine, given: Several[Given]) -> None:
    """What was handed to something unknown may be kept or changed there."""
    for value, _ in given:
        _escape(value)
        machine.world.handed_over += [(tick(), op) for op in ops_of(value)]


def _let_clear(machine: Machine, given: Several[Given], answer: Value) -> None:
    """Gradients may be cleared by whoever was handed an optimizer; or a model, unless it only computed with it."""
    for value, _ in given:
        optimizer, module = value.optimizer or value, value.layer or value
        if isinstance(optimizer, Optimizer):
            machine.world.forget_gradients(machine.world.owned(optimizer))
        elif isinstance(module, Instance) and any(isinstance(each, Optimizer) for each in module.attributes.values()):
            machine.world.forget_gradients(leaves_of(module))
        elif isinstance(module, Layer | Instance):
            machine.world.question_gradients(leaves_of(module), answer)


def _escape(value: Value) -> None:
    escape(value)
    if isinstance(value, Sequence | Mapping):
        value.exact = False
