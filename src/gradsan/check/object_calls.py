"""Classes of the user's and their objects: `Net()`, `net(x)`, `net.method(x)`, `Net.method(x)`, `super().method(x)`."""

from gradsan.check.assumed_modules import as_module, call_assumed
from gradsan.check.definitions import inner_pass
from gradsan.check.function_calls import enter
from gradsan.check.graph import LIKELY
from gradsan.check.layer_calls import new_layer
from gradsan.check.machine import NOWHERE, Call, Machine
from gradsan.check.module_calls import as_compiled, module_method, run_hooks
from gradsan.check.new_ops import result, untyped
from gradsan.check.pass_calls import backward
from gradsan.check.tables import CALLEES, RECEIVERS, entered
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import NONE, Class, Factory, Function, Instance, Layer, Value
from gradsan.knowledge.module_classes import BASES, creates_parameters


@entered(CALLEES, Class)
def construct(machine: Machine, cls: Class, call: Call) -> Instance:
    """A new object of a class of the user's."""
    created = Instance(cls=cls, created=machine.site(call.node))
    machine.world.modules += [created] if cls.is_module else []
    constructor = cls.member("__init__")
    if cls.plain:
        _fill(machine, created, call)
    elif isinstance(constructor, Function):
        enter(machine, constructor, call, created)
    elif cls.is_module:
        created.base = layer_of(machine, cls, call)
    return created


def _fill(machine: Machine, created: Instance, call: Call) -> None:
    """The fields of a record: what was given for them, or their defaults."""
    defaults = {name: created.cls.members[name] for name in created.cls.fields if name in created.cls.members}
    for name, default in defaults.items():
        is_factory = isinstance(default, Factory)
        created.attributes[name] = machine.call(default.function, Call(NOWHERE)) if is_factory else default  # type: ignore[attr-defined]
    created.attributes |= dict(zip(created.cls.fields, call.values, strict=False))
    created.attributes |= {key: value for key, (value, _) in call.keywords.items()}
    rest = created.cls.member("__post_init__")
    if isinstance(rest, Function):
        enter(machine, rest, Call(call.node), created)


@entered(RECEIVERS, Class)
def class_method(machine: Machine, cls: Class, call: Call) -> Value:
    """`Class.name(...)`."""
    found = cls.member(call.name)
    if isinstance(found, Function):
        return enter(machine, found, call, cls if "classmethod" in found.decorators else None)
    if call.name == "apply":
        created = result(machine, cls.label or "Function", call.given, call.node, saves=True)
        if created.op is not None:
            created.op.inner = inner_pass(cls)
        return untyped(created)
    return unknown_call(machine, call.name, call)


@entered(CALLEES, Instance)
def call_instance(machine: Machine, instance: Instance, call: Call) -> Value:
    """An object is called: its own `__call__`, or the forward of a module."""
    own = instance.cls.member("__call__")
    if isinstance(own, Function):
        return enter(machine, own, call, instance)
    forward = instance.cls.member("forward")
    if isinstance(forward, Function):
        return _forward(machine, instance, forward, call)
    return _foreign_forward(machine, instance, call)


def _forward(machine: Machine, instance: Instance, forward: Function, call: Call) -> Value:
    was, instance.running = instance.running, True
    try:
        value = enter(machine, forward, call, instance)
        run_hooks(machine, instance, call.arguments, value, call.node)
        return as_compiled(machine, instance, value, call.node)
    finally:
        instance.running = was


def _foreign_forward(machine: Machine, instance: Instance, call: Call) -> Value:
    """What is called is defined in a library."""
    if isinstance(instance.base, Layer):
        return machine.call(instance.base, call)
    if instance.cls.is_module:
        return call_assumed(machine, as_module(instance), call.given, call.node)
    return unknown_call(machine, instance.label or "?", call)


@entered(RECEIVERS, Instance)
def instance_method(machine: Machine, instance: Instance, call: Call) -> Value:
    """`object.name(...)`: what is stored there, what its class defines, or what a base class in a library does."""
    stored = instance.attributes.get(call.name)
    if stored is not None:
        return machine.call(stored, call)
    found = instance.cls.member(call.name)
    if isinstance(found, Function):
        return enter(machine, found, call, instance)
    return _inherited_method(machine, instance, call)


def _inherited_method(machine: Machine, instance: Instance, call: Call) -> Value:
    """A method that a base class in a library has: of modules, or anything."""
    answer = module_method(machine, instance, call) if instance.cls.is_module else None
    if answer is not None:
        return answer
    if call.name == "manual_backward" and call.arguments:
        return backward(machine, call.arguments[0], call.rest)
    return _foreign_method(machine, instance, call)


def _foreign_method(machine: Machine, instance: Instance, call: Call) -> Value:
    """A method that an unknown base class may have: it may do anything to the object."""
    if call.name == "zero_grad" and instance.cls.is_optimizer:
        machine.world.clear(machine.world.reached())
        return NONE
    answer = unknown_call(machine, call.name, call)
    if instance.running and answer.op is not None:  # its forward asks it to compute: `self.propagate(edges, x=x)`
        answer.op.doubt = min(answer.op.doubt, LIKELY)
    return answer


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
    """The constructor of a base class in a library."""
    receiver.base = layer_of(machine, owner, call) or receiver.base
    return NONE


def layer_of(machine: Machine, cls: Class, call: Call) -> Value | None:
    """The layer that an object is which is built upon a class of torch.nn: `class Net(nn.Sequential)`."""
    layers = (each for each in cls.foreign_bases() if creates_parameters(each) and each not in BASES)
    found = next(layers, None)
    return None if found is None else new_layer(machine, found.rpartition(".")[2], call)
