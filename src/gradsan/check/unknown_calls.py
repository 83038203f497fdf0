"""Calls of something unknown, and of its methods.

Of a method, `RULES` says by what it is recognised what it does, one sentence each; the first that knows answers.
"""

from collections.abc import Callable

from gradsan.check.assumed_modules import answers_as_module, as_module, call_assumed, is_module_like
from gradsan.check.machine import Call, Machine
from gradsan.check.optimizer_calls import steps_as_optimizer
from gradsan.check.pass_calls import asks_for_a_pass
from gradsan.check.tables import CALLEES, RECEIVERS, entered
from gradsan.check.tensor_calls import answers_as_tensor, changes_in_place
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import Const, Sequence, Value
from gradsan.knowledge.effects import does
from gradsan.knowledge.module_classes import RETURN_THE_MODULE
from gradsan.knowledge.tensors import operation


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
    return Value(created=machine.site(call.node))


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
    answer = unknown_call(machine, call.name, call.on(call.receiver(value)))
    answer.basis = (value,) if value.opaque and answer.op is None else ()
    return answer


def _hands_out_parts(machine: Machine, value: Value, call: Call) -> Value | None:
    """`values` and `items` without an argument are those of a mapping, and hand out its parts."""
    if call.name not in ("values", "items") or call.given:
        return None
    elements = machine.elements(value, call.node)
    pairs = [Sequence(elements=[Value(), each], kind="tuple") for each in elements]
    return Sequence(elements=[*(elements if call.name == "values" else pairs)], exact=False)


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


RULES: tuple[Callable[[Machine, Value, Call], Value | None], ...] = (
    asks_for_a_pass,
    steps_as_optimizer,
    answers_as_module,
    _hands_out_parts,
    _prepares,
    _is_the_same,
    changes_in_place,
    answers_as_tensor,
)
