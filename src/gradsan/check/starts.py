"""Where paths begin: with a file as a program, and with its functions that this does not reach.

Whoever calls these, trains with them: a method again and again, or a trainer that back-propagates what it returns.
"""

from gradsan.check.definitions import attributes_set
from gradsan.check.function_calls import enter
from gradsan.check.graph import LoopRun, Op
from gradsan.check.imports import lazy_module, name_of
from gradsan.check.interpreter import run_main
from gradsan.check.leading_functions import Start
from gradsan.check.machine import NOWHERE, Call, Machine
from gradsan.check.object_calls import construct
from gradsan.check.pass_calls import run_pass
from gradsan.check.values import NONE, Class, Const, Function, Instance, Mapping, Value, is_false, ops_of
from gradsan.knowledge.libraries import LIGHTNING_BASES
from gradsan.source.file import Source

WHOLE_FILE: Start = ()


def follow(machine: Machine, source: Source, start: Start) -> None:
    """Follow one path from a start: a function is called with unknown arguments, a method as if it trained."""
    if start == WHOLE_FILE:
        run_main(machine, source)
        return
    frame = lazy_module(machine, source)
    value = name_of(machine, frame, start[0])
    with machine.within(frame):
        match start, value:
            case [_], Function():
                frame.returned = enter(machine, value, Call(value.node))  # type: ignore[arg-type]
            case [_, name], Class(members=members):
                method = members.get(name)
                if isinstance(method, Function):
                    _train_with(machine, value, method)


def kept(machine: Machine, start: Start) -> frozenset[Op]:
    """What whoever called the function may still use: what it returned, and what the module's names hold."""
    returned = [frame.returned or NONE for frame in machine.modules.values()] if start else []
    return frozenset(op for value in returned for op in ops_of(value))


def _train_with(machine: Machine, cls: Class, method: Function) -> None:
    """Call a method on a new object, twice, as whoever trains with it would."""
    call = Call(method.node)  # type: ignore[arg-type]
    instance = construct(machine, cls, call)
    if "staticmethod" in method.decorators:
        enter(machine, method, call)
        return
    _forget_what_others_set(instance, method)
    run = LoopRun(machine.site(method.node), imagined=True)
    automatic = _is_automatic(machine, instance, method)
    for number in (1, 2):
        with machine.iteration_of(run, number):
            result = enter(machine, method, call, instance)
            if automatic:
                _back_propagate(machine, result, call)
        for name in instance.guessed:  # whoever calls again may have set them again
            instance.attributes.pop(name, None)
        instance.guessed.clear()


def _forget_what_others_set(instance: Instance, method: Function) -> None:
    """Numbers, flags and None are no longer what the constructor set, once other methods were called that set them."""
    others = [each for cls in instance.cls.lineage() for each in cls.members.values() if isinstance(each, Function)]
    nodes = (each.node for each in others if each is not method and not _constructs(each))
    for name in {name for node in nodes for name in attributes_set(node)}:
        if isinstance(instance.attributes.get(name), Const):
            instance.attributes[name] = Value(label=f"self.{name}")


def _constructs(function: Function) -> bool:
    return getattr(function.node, "name", "") == "__init__"


def _back_propagate(machine: Machine, result: Value, call: Call) -> None:
    loss = result.entries.get("loss", NONE) if isinstance(result, Mapping) else result
    if ops_of(loss):
        run_pass(machine, "backward", (loss, None), {}, call.node)


def _is_automatic(machine: Machine, instance: Instance, method: Function) -> bool:
    """Whether a trainer back-propagates what the method returns."""
    if getattr(method.node, "name", "") != "training_step":
        return False
    if is_false(machine.attribute(instance, "automatic_optimization", NOWHERE)):
        return False
    return any(base.endswith(LIGHTNING_BASES) for base in instance.cls.foreign_bases())
