"""What every module answers, one of torch.nn as well as one of the user's: `parameters()`, `train()`, `zero_grad()`."""

import ast
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Several

from gradsan.check.machine import Call, Given, Machine
from gradsan.check.new_ops import cut, result
from gradsan.check.tables import entered
from gradsan.check.values import Const, Instance, Layer, Mapping, Sequence, Tensor, Value, is_false, leaves_of, ops_of

_MODULES = (Layer, Instance)
_MOST_MODULES = 40
_DEEPEST = 8
METHODS: dict[str, Callable[[Machine, Value, Call], Value]] = {}


def module_method(machine: Machine, module: Value, call: Call) -> Value | None:
    """What every module answers; None: not that."""
    handler = METHODS.get(call.name)
    if handler is None or (call.name == "register_forward_hook" and not call.arguments):
        return None
    return handler(machine, module, call)


@entered(METHODS, *"to cuda cpu half float double bfloat16 apply share_memory type compile to_empty".split())
def _itself(machine: Machine, module: Value, call: Call) -> Value:
    return module


@entered(METHODS, "requires_grad_")
def _require(machine: Machine, module: Value, call: Call) -> Value:
    wanted, site = not is_false(call.first), machine.site(call.node)
    machine.world.require(leaves_of(module), site, wanted=wanted, certain=machine.is_certain)
    return module


@entered(METHODS, "train", "eval")
def _train(machine: Machine, module: Value, call: Call) -> Value:
    _switch(module, Const(value=call.name == "train" and not is_false(call.first)))
    return module


def _switch(module: Value, training: Const, depth: int = _DEEPEST) -> None:
    """Between training and evaluation, down to the modules inside."""
    module.attributes["training"] = training
    for each in _submodules(module) if depth else ():
        _switch(each, training, depth - 1)


@entered(METHODS, "parameters")
def _parameters(machine: Machine, module: Value, call: Call) -> Value:
    tensors: list[Value] = [Tensor(leaf=leaf) for leaf in leaves_of(module)]
    return Sequence(elements=tensors, exact=bool(tensors))


@entered(METHODS, "named_parameters")
def _named_parameters(machine: Machine, module: Value, call: Call) -> Value:
    tensors = [Tensor(leaf=leaf) for leaf in leaves_of(module)]
    return Sequence(elements=_named(tensors), exact=bool(tensors))


@entered(METHODS, "zero_grad")
def _clear(machine: Machine, module: Value, call: Call) -> Value:
    machine.world.clear(leaves_of(module))
    return Value()


@entered(METHODS, "state_dict")
def _state(machine: Machine, module: Value, call: Call) -> Value:
    """The values of its parameters, without a graph."""
    found = Mapping(exact=False)
    for leaf in leaves_of(module):
        found.entries[leaf.name] = cut(machine, Tensor(leaf=leaf), "`state_dict()`", call.node)
    return found


@entered(METHODS, "load_state_dict", "buffers", "named_buffers")
def _something(machine: Machine, module: Value, call: Call) -> Value:
    return Value()


@entered(METHODS, "register_buffer", "register_parameter", "add_module", "register_module")
def _register(machine: Machine, module: Value, call: Call) -> Value:
    match call.named("name", "tensor"):
        case {"name": (Const(value=name), _), "tensor": (value, _)} | {
            "name": (Const(value=name), _),
            "module": (value, _),
        }:
            if isinstance(module, Layer):
                module.children.append((str(name), value))
            else:
                module.attributes[str(name)] = value
    return Value()


@entered(METHODS, "register_forward_hook")
def _hook(machine: Machine, module: Value, call: Call) -> Value:
    if isinstance(module, _MODULES):
        module.hooks += call.values[:1]
    return Value()


@entered(METHODS, "children")
def _children(machine: Machine, module: Value, call: Call) -> Value:
    return Sequence(elements=_submodules(module), exact=False)


@entered(METHODS, "named_children")
def _named_children(machine: Machine, module: Value, call: Call) -> Value:
    return Sequence(elements=_named(_submodules(module)), exact=False)


@entered(METHODS, "modules")
def _modules(machine: Machine, module: Value, call: Call) -> Value:
    return Sequence(elements=[module, *_descendants(module)], exact=False)


@entered(METHODS, "named_modules")
def _named_modules(machine: Machine, module: Value, call: Call) -> Value:
    return Sequence(elements=_named([module, *_descendants(module)]), exact=False)


def after_forward(
    machine: Machine, module: Layer | Instance, given: Several[Given], value: Value, node: ast.expr
) -> Value:
    """What hooks and the compiler make of the output of a module."""
    for hook in module.hooks:
        inputs = Sequence(elements=[each for each, _ in given], kind="tuple")
        answer = machine.call(hook, Call(node, [(module, None), (inputs, None), (value, None)]))
        value = answer if ops_of(answer) else value
    return value


def as_compiled(machine: Machine, module: Layer | Instance, value: Value, node: ast.expr) -> Value:
    """What a compiled module returns hangs on one op."""
    if module.compiled and isinstance(value, Tensor) and value.op is not None:
        return result(machine, "compiled", [(value, None)], node, compiled=module)
    return value


def _named(values: Iterable[Value]) -> list[Value]:
    return [Sequence(elements=[Value(), each], kind="tuple") for each in values]


def _descendants(module: Value) -> list[Value]:
    found: list[Value] = []
    waiting = _submodules(module)
    while waiting and len(found) < _MOST_MODULES:
        each = waiting.pop(0)
        if each not in found:
            found.append(each)
            waiting += _submodules(each)
    return found


def _submodules(module: Value) -> list[Value]:
    if isinstance(module, Layer):
        return [child for _, child in module.children]
    return [each for each in module.attributes.values() if isinstance(each, _MODULES)]
