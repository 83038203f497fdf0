"""Calls of the user's classes: `Net()`, `Net.method(x)`, `Function.apply(x)`."""

from gradsan.check.definitions import inner_pass
from gradsan.check.function_calls import enter
from gradsan.check.inherited_calls import layer_of
from gradsan.check.machine import NOWHERE, Call, Machine
from gradsan.check.new_ops import result, untyped
from gradsan.check.tables import CALLEES, RECEIVERS, entered
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import (
    Class,
    Factory,
    Function,
    Instance,
    Value,
)


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
    elif cls.has_foreign_base:
        created.given = call.values
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
    if call.name == "apply" and any(base.endswith("Function") for base in cls.foreign_bases()):
        created = result(machine, cls.label or "Function", call.given, call.node, saves=True)
        if created.op is not None:
            created.op.inner = inner_pass(cls)
        return untyped(created)
    if found is not None:
        return machine.call(found, call)
    return unknown_call(machine, call.name, call)
