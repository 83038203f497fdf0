"""Calls of optimizers and of gradient scalers: `SGD(…)`, `optimizer.step()`, `zero_grad()`, `scaler.scale(loss)`."""

from gradsan.check.graph import LoopRun
from gradsan.check.machine import Call, Machine
from gradsan.check.new_ops import result
from gradsan.check.tables import RECEIVERS, TORCH, entered
from gradsan.check.values import (
    Const,
    Function,
    Layer,
    Optimizer,
    Scaler,
    Sequence,
    Tensor,
    Value,
    is_called,
    is_scalar,
    leaves_of,
    ops_of,
)
from gradsan.knowledge.hints import NOT_OPTIMIZER_WORDS, OPTIMIZER_WORDS


def new_optimizer(machine: Machine, call: Call) -> Optimizer:
    """An optimizer over what it was given."""
    params, _ = call.named("params").get("params", (Value(), None))
    owned = list(dict.fromkeys(leaves_of(params)))
    created = Optimizer(owned=owned, complete=bool(owned) and _is_known(params), created=machine.site(call.node))
    machine.world.optimizers.append(created)
    return created


def as_optimizer(machine: Machine, value: Value) -> Optimizer:
    """Something unknown that behaves as an optimizer does."""
    if isinstance(value, Optimizer):
        return value
    if value.optimizer is None:
        value.optimizer = Optimizer(name=value.label or "optimizer", complete=False)
        machine.world.optimizers.append(value.optimizer)
    return value.optimizer


@entered(RECEIVERS, Optimizer)
def optimizer_method(machine: Machine, optimizer: Optimizer, call: Call) -> Value:
    """`step`, `zero_grad` and the rest of an optimizer."""
    match call.name:
        case "zero_grad":
            machine.world.clear(machine.world.owned(optimizer))
        case "step":
            return _step(machine, optimizer, call)
        case "add_param_group":
            optimizer.owned += [leaf for value in call.values for leaf in leaves_of(value)]
            optimizer.complete = False
    return Value(created=machine.site(call.node))


def steps_as_optimizer(machine: Machine, value: Value, call: Call) -> Value | None:
    """`step` and `zero_grad` of something that is called an optimizer are those of one."""
    if call.name not in ("step", "zero_grad"):
        return None
    is_one = is_called(value, OPTIMIZER_WORDS) and not is_called(value, NOT_OPTIMIZER_WORDS)
    if is_one or value.optimizer is not None:
        return optimizer_method(machine, as_optimizer(machine, value), call)
    return None


def _step(machine: Machine, optimizer: Optimizer, call: Call) -> Value:
    site = machine.site(call.node)
    closure = next((each for each, _ in call.given if isinstance(each, Function)), None)
    if closure is None:
        machine.world.step(optimizer, site, certain=machine.is_certain)
        return Value(created=site)
    answer = Value()
    run = LoopRun(site, imagined=True)
    for number in (1, 2):
        with machine.iteration_of(run, number):
            answer = machine.call(closure, Call(call.node))
            machine.world.step(optimizer, machine.site(call.node), certain=machine.is_certain)
    return answer


@entered(TORCH, "GradScaler")
def new_scaler(machine: Machine, call: Call) -> Scaler:
    """`torch.amp.GradScaler()`."""
    return Scaler()


@entered(RECEIVERS, Scaler)
def scaler_method(machine: Machine, scaler: Scaler, call: Call) -> Value:
    """`scaler.scale(loss)` scales, and `scaler.step(optimizer)` steps."""
    match call.name:
        case "step":
            return optimizer_method(machine, as_optimizer(machine, call.first), call.rest)
        case "scale" if ops_of(call.first):
            scalar = is_scalar(call.first)
            return result(machine, "mul", call.arguments[:1], call.node, linear=scalar, scalar=scalar)
        case "scale":
            return call.first
    return Value()


def _is_known(value: Value) -> bool:
    """Whether everything that is handed to an optimizer can be seen."""
    if isinstance(value, Sequence):
        return all(map(_is_known, value.elements))
    if isinstance(value, Tensor | Layer | Const):
        return not (isinstance(value, Layer) and value.assumed)
    return type(value) is not Value
