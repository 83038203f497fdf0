"""Training that nobody wrote: whoever calls a method again and again, or back-propagates what it returns."""

from gradsan.check.class_calls import construct
from gradsan.check.definitions import attributes_set
from gradsan.check.function_calls import enter
from gradsan.check.graph import LoopRun
from gradsan.check.machine import NOWHERE, Call, Machine
from gradsan.check.pass_calls import run_pass
from gradsan.check.values import NONE, Class, Const, Function, Instance, Mapping, Value, is_false, ops_of
from gradsan.knowledge.libraries import LIGHTNING_BASES

_DEEPEST = 2  # objects within objects


def train_with(machine: Machine, cls: Class, method: Function) -> None:
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


def _forget_what_others_set(instance: Instance, method: Function, depth: int = _DEEPEST) -> None:
    """Numbers, flags and None are no longer what the constructor set, once other methods were called that set them."""
    others = [each for cls in instance.cls.lineage() for each in cls.members.values() if isinstance(each, Function)]
    nodes = (each.node for each in others if each is not method and not _constructs(each))
    for name in {name for node in nodes for name in attributes_set(node)}:
        if isinstance(instance.attributes.get(name), Const):
            instance.attributes[name] = Value(label=f"self.{name}")
    held = [each for each in instance.attributes.values() if isinstance(each, Instance)]
    for each in held if depth else ():
        _forget_what_others_set(each, method, depth - 1)


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
