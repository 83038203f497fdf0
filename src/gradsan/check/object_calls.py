"""Calls of objects of the user's: `net(x)`, `net.method(x)`."""

from gradsan.check.assumed_modules import as_module, call_assumed
from gradsan.check.builtin_calls import builtin
from gradsan.check.class_calls import construct
from gradsan.check.function_calls import enter
from gradsan.check.graph import LIKELY
from gradsan.check.machine import Call, Machine
from gradsan.check.module_calls import after_forward, as_compiled, module_method
from gradsan.check.optimizer_calls import optimizer_method
from gradsan.check.pass_calls import backward
from gradsan.check.tables import CALLEES, RECEIVERS, entered
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import (
    NONE,
    Function,
    Instance,
    Layer,
    Method,
    Partial,
    Value,
    leaves_of,
    ops_of,
)

_LOGGING = ("log", "log_dict", "optimizers")  # of a trainer: they leave the object alone


@entered(CALLEES, Instance)
def call_instance(machine: Machine, instance: Instance, call: Call) -> Value:
    """An object is called: its own `__call__`, or the forward of a module."""
    own = instance.cls.member("__call__")
    if isinstance(own, Function):
        return enter(machine, own, call, instance)
    forward = instance.attributes.get("forward") or instance.cls.member("forward")
    if isinstance(forward, Method | Partial) or (isinstance(forward, Function) and forward.owner is None):
        return machine.call(forward, call)
    if isinstance(forward, Function):
        return _forward(machine, instance, forward, call)
    return _foreign_forward(machine, instance, call)


def _forward(machine: Machine, instance: Instance, forward: Function, call: Call) -> Value:
    was, instance.running = instance.running, True
    try:
        value = enter(machine, forward, call, instance)
        value = after_forward(machine, instance, call.arguments, value, call.node)
        return as_compiled(machine, instance, value, call.node)
    finally:
        instance.running = was


def _foreign_forward(machine: Machine, instance: Instance, call: Call) -> Value:
    """What is called is defined in a library."""
    if isinstance(instance.base, Layer):
        return machine.call(instance.base, call)
    if instance.base is None:
        instance.base = Value(label=instance.label or instance.cls.label)
    if instance.cls.is_module:
        return call_assumed(machine, as_module(instance.base), call.given, call.node)
    return machine.call(instance.base, call)


@entered(RECEIVERS, Instance)
def instance_method(machine: Machine, instance: Instance, call: Call) -> Value:
    """`object.name(...)`: what is stored there, what its class defines, or what a base class in a library does."""
    stored = instance.attributes.get(call.name)
    if stored is not None:
        return machine.call(stored, call)
    found = instance.cls.member(call.name)
    if isinstance(found, Function):
        return _own_method(machine, instance, found, call)
    if found is not None:
        return machine.call(found, call)
    return _inherited_method(machine, instance, call)


def _own_method(machine: Machine, instance: Instance, method: Function, call: Call) -> Value:
    if method.is_property:
        return machine.call(machine.attribute(instance, call.name, call.node), call)
    receiver = instance.cls if "classmethod" in method.decorators else instance
    return enter(machine, method, call, receiver)


def _inherited_method(machine: Machine, instance: Instance, call: Call) -> Value:
    """A method that a base class in a library has: of named tuples, of modules, or anything."""
    match call.name:
        case "_replace":
            return builtin(machine, "replace", Call(call.node, [(instance, None)], call.keywords)) or Value()
        case "_make" if instance.cls.is_named_tuple:
            elements = machine.elements(call.first, call.node)
            return construct(machine, instance.cls, Call(call.node, [(each, None) for each in elements]))
        case "__call__":
            return call_instance(machine, instance, call)
    answer = module_method(machine, instance, call) if instance.cls.is_module else None
    if answer is not None:
        return answer
    if call.name == "manual_backward" and call.arguments:
        return backward(machine, call.arguments[0], call.rest)
    return _foreign_method(machine, instance, call)


def _foreign_method(machine: Machine, instance: Instance, call: Call) -> Value:
    """A method that an unknown base class may have: it may do anything to the object."""
    if instance.optimizer is not None:
        return optimizer_method(machine, instance.optimizer, call)
    if call.name == "zero_grad" and instance.cls.is_optimizer:
        machine.world.clear(leaves_of(instance.attributes.get("param_groups", NONE)) or machine.world.reached())
        return NONE
    if call.name not in _LOGGING and instance.cls.has_foreign_base:
        for op in (op for each in instance.attributes.values() for op in ops_of(each)):
            op.doubt = max(op.doubt, LIKELY)
    answer = unknown_call(machine, call.name, call)
    if instance.running and answer.op is not None:  # its forward asks it to compute: `self.propagate(edges, x=x)`
        answer.op.doubt = min(answer.op.doubt, LIKELY)
    return answer
