"""Calls of libraries by their dotted names: torch, its relatives, numpy, the standard library."""

import ast
from collections.abc import Callable

from gradsan.check.builtin_calls import builtin
from gradsan.check.graph import Leaf, tick
from gradsan.check.layer_calls import new_layer, new_parameter
from gradsan.check.machine import Call, Machine
from gradsan.check.new_ops import cut, result
from gradsan.check.operators import truth
from gradsan.check.optimizer_calls import new_optimizer
from gradsan.check.pass_calls import backward_of_several, gradient
from gradsan.check.tables import CALLEES, entered
from gradsan.check.torch_calls import torch_function
from gradsan.check.unknown_calls import unknown_call
from gradsan.check.values import (
    Const,
    Context,
    Distribution,
    Instance,
    Layer,
    Library,
    Scaler,
    Sequence,
    Tensor,
    Value,
    has_graph,
    is_true,
    ops_of,
)
from gradsan.check.walking import reach
from gradsan.knowledge.effects import does, paths
from gradsan.knowledge.libraries import (
    CHECKPOINT_OPTIONS,
    NUMBER_LIBRARIES,
    OPTIMIZER_PACKAGES,
    STANDARD,
    TENSOR_LIBRARIES,
    WITHOUT_GRAPHS,
)
from gradsan.knowledge.tensors import operation

_UNFOLLOWED = ("torch.func.", "torch.vmap", "torch._", "torch.fx.", "torch.onnx.", "torch.export.")
_PARALLEL = ("DistributedDataParallel", "DataParallel", "DDP")

Handler = Callable[[Machine, str, Call], Value]  # (machine, path, call)
BY_NAME: dict[str, Handler] = {}  # of torch, by the last name alone
BY_PATH: dict[str, Handler] = {}


@entered(CALLEES, Library)
def call_library(machine: Machine, library: Library, call: Call) -> Value:
    """The result of calling a name of a library."""
    path, last = library.path, _last(library.path)
    known = builtin(machine, last, call) if path.startswith(STANDARD) else None
    if known is not None:
        return known
    if path.startswith("torch."):
        return _call_torch(machine, path, call)
    if path.startswith(TENSOR_LIBRARIES):
        return torch_function(machine, last, call)
    if path.startswith(NUMBER_LIBRARIES):
        return _numbers(machine, path, call)
    if does(last, "optimizes") and call.arguments and path.startswith(OPTIMIZER_PACKAGES):
        return new_optimizer(machine, call)
    if last == "GradScaler":
        return Scaler()
    if last in _PARALLEL and call.first is not None:
        return call.first
    return unknown_call(machine, path, call)


def _last(path: str) -> str:
    return path.rsplit(".", 1)[-1]


def _call_torch(machine: Machine, path: str, call: Call) -> Value:
    special = BY_PATH.get(path) or BY_NAME.get(_last(path))
    if special is not None:
        return special(machine, path, call)
    if path in paths("wraps") and call.first is not None:
        return call.first
    return next(handler for prefixes, handler in _PREFIXES if path.startswith(prefixes))(machine, path, call)


@entered(BY_NAME, "no_grad", "inference_mode", "enable_grad")
def _recording(machine: Machine, path: str, call: Call) -> Value:
    """`torch.no_grad()`; `torch.inference_mode(False)` leaves the recording on."""
    last = _last(path)
    switched_off = isinstance(call.first, Const) and call.first.value is False
    return Context(enables=last == "enable_grad" or switched_off, how=f"`torch.{last}()`")


@entered(BY_NAME, "set_grad_enabled")
def _set_recording(machine: Machine, path: str, call: Call) -> Value:
    """As a context or as a statement: both switch at once, and the context switches back."""
    how = "`torch.set_grad_enabled(False)`"
    if isinstance(call.first, Const):
        return Context(enables=bool(call.first.value), how=how)
    test = call.node.args[0] if isinstance(call.node, ast.Call) and call.node.args else None
    if test is None:
        return Context()
    known = truth(call.first) if call.first is not None else None
    return Context(enables=machine.choose(call.node, test) if known is None else known, how=how)


@entered(BY_PATH, "torch.autograd.grad")
def _gradient(machine: Machine, path: str, call: Call) -> Value:
    return gradient(machine, call)


@entered(BY_PATH, "torch.autograd.backward")
def _backward(machine: Machine, path: str, call: Call) -> Value:
    return backward_of_several(machine, call)


@entered(BY_PATH, "torch.utils.checkpoint.checkpoint")
def _checkpoint(machine: Machine, path: str, call: Call) -> Value:
    """A checkpoint calls its function; a re-entrant one gives it arguments that are cut off."""
    if call.first is None:
        return unknown_call(machine, path, call)
    own = {key: each for key, each in call.keywords.items() if key not in CHECKPOINT_OPTIONS}
    inner = call.rest._replace(keywords=own)
    if is_true(call.keyword("use_reentrant")):
        return _reentrant(machine, call.first, inner)
    return machine.call(call.first, inner)


def _reentrant(machine: Machine, function: Value, call: Call) -> Value:
    """A re-entrant checkpoint: its arguments are cut off inside; what gets in otherwise is not."""
    begin = tick()
    cut_off = [(Tensor(leaf=Leaf("?", "?")) if ops_of(value) else value, each) for value, each in call.arguments]
    inner = machine.call(function, call._replace(arguments=cut_off))
    own = [op for op in reach(ops_of(inner)) if op.number > begin]
    captured = [edge.op for op in own for edge in op.edges if edge.op.number < begin]
    leaves = dict.fromkeys(leaf for op in own for leaf in op.leaves if leaf.name != "?")
    made = result(machine, "checkpoint", call.arguments, call.node, leaves=tuple(leaves))
    if made.op is None or not isinstance(inner, Tensor):
        return inner
    made.op.captured = tuple(dict.fromkeys(captured))
    return made


@entered(BY_PATH, "torch.compile")
def _compile(machine: Machine, path: str, call: Call) -> Value:
    if isinstance(call.first, Layer | Instance):
        call.first.compiled = True
    return call.first or Value()


@entered(BY_NAME, "GradScaler")
def _scaler(machine: Machine, path: str, call: Call) -> Value:
    return Scaler()


@entered(BY_NAME, "autocast")
def _autocast(machine: Machine, path: str, call: Call) -> Value:
    return Context()


@entered(BY_NAME, "Parameter", "UninitializedParameter")
def _parameter(machine: Machine, path: str, call: Call) -> Value:
    return new_parameter(call)


def _data(machine: Machine, path: str, call: Call) -> Value:
    """Data sets of tensors hand out parts of them."""
    if _last(path) == "TensorDataset":
        row = Sequence(elements=call.values, kind="tuple")
        return Sequence(elements=[row, row], exact=False)
    given = call.named("dataset").get("dataset")
    if _last(path) == "DataLoader" and given is not None and isinstance(given[0], Sequence):
        return Sequence(elements=given[0].elements[:2] * 2, exact=False)
    return Value()


def _packed(machine: Machine, path: str, call: Call) -> Value:
    """Packed sequences, and pairs."""
    packed = torch_function(machine, _last(path), call)
    if isinstance(packed, Tensor):
        packed.plain = "other"
    return packed


def _nothing(machine: Machine, path: str, call: Call) -> Value:
    return Value(made=machine.site(call.node))


def _optimizer(machine: Machine, path: str, call: Call) -> Value:
    return new_optimizer(machine, call) if _is_class(path) else Value()


def _distribution(machine: Machine, path: str, call: Call) -> Value:
    made = result(machine, _last(path), call.given, call.node, saves=True)
    return Distribution(op=made.op, made=made.made)


def _function(machine: Machine, path: str, call: Call) -> Value:
    return torch_function(machine, _last(path), call)


def _layer(machine: Machine, path: str, call: Call) -> Value:
    return new_layer(_last(path), call) if _is_class(path) else torch_function(machine, _last(path), call)


def _anything(machine: Machine, path: str, call: Call) -> Value:
    """A function of torch; the constructor of a tensor; or a class of which nothing is known."""
    if _is_class(path) and operation(_last(path)).graph == "builds":
        return torch_function(machine, "tensor", call)
    if _is_class(path):
        return unknown_call(machine, path, call)
    return torch_function(machine, _last(path), call)


def _is_class(path: str) -> bool:
    return _last(path)[:1].isupper()


# What the names of a part of torch are; the first that fits counts.
_PREFIXES: tuple[tuple[str | tuple[str, ...], Handler], ...] = (
    ("torch.utils.data.", _data),
    ("torch.nn.utils.rnn.", _packed),
    (WITHOUT_GRAPHS, _nothing),
    ("torch.optim.", _optimizer),
    ("torch.distributions.", _distribution),
    ("torch.nn.functional.", _function),
    ("torch.nn.", _layer),
    (_UNFOLLOWED, unknown_call),
    ("torch.", _anything),
)


def _numbers(machine: Machine, path: str, call: Call) -> Value:
    """Numpy and its like hand back bare numbers."""
    for value in call.values:
        if has_graph(value) or (isinstance(value, Tensor) and value.cut):
            return cut(machine, value, f"`{path}`", call.node)
        inner = value.elements if isinstance(value, Sequence) else []
        lost = next((each.cut for each in inner if isinstance(each, Tensor) and each.cut), None)
        if lost is not None:
            return Tensor(cut=lost, made=machine.site(call.node))
    return Value(made=machine.site(call.node))
