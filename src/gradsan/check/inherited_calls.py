"""What a class of the user's has of its bases: `super().method(x)`, and the part that a class of a library makes up."""

from gradsan.check.function_calls import enter
from gradsan.check.layer_calls import new_layer
from gradsan.check.machine import NOWHERE, Call, Machine
from gradsan.check.module_calls import module_method
from gradsan.check.optimizer_calls import new_optimizer
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import NONE, Class, Function, Instance, Layer, Value
from gradsan.knowledge.module_classes import BASES, creates_parameters


def call_super(machine: Machine, call: Call) -> Value:
    """`super().name(...)`."""
    function, receiver = machine.frame.function, machine.frame.receiver
    owner = function.owner if function is not None else None
    if owner is None or receiver is None:
        return NONE if call.name == "__init__" else unknown_call(machine, call.name, call)
    bases = list(owner.lineage())[1:]
    inherited = next((each.members[call.name] for each in bases if call.name in each.members), None)
    if isinstance(inherited, Function):
        return enter(machine, inherited, call, receiver)
    if call.name == "__init__":
        return _foreign_constructor(machine, owner, receiver, call)
    if call.name in ("forward", "__call__") and isinstance(receiver.base, Layer):
        return machine.call(receiver.base, call)
    return module_method(machine, receiver, call) or unknown_call(machine, call.name, call)


def _foreign_constructor(machine: Machine, owner: Class, receiver: Instance, call: Call) -> Value:
    """The constructor of a base class in a library: that of an optimizer takes the parameters."""
    if owner.is_optimizer:
        optimizer = receiver.optimizer = new_optimizer(machine, call)
        optimizer.name = receiver.label or "optimizer"
        receiver.attributes["param_groups"] = machine.attribute(optimizer, "param_groups", NOWHERE)
    receiver.base = layer_of(machine, owner, call) or receiver.base
    return NONE


def layer_of(machine: Machine, cls: Class, call: Call) -> Value | None:
    """The layer that an object is which is built upon a class of torch.nn: `class Net(nn.Sequential)`."""
    layers = (each for each in cls.foreign_bases() if creates_parameters(each) and each not in BASES)
    found = next(layers, None)
    return None if found is None else new_layer(machine, found.rpartition(".")[2], call)
