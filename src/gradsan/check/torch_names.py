"""Names of torch that are called: what each is by where it stands, `torch.nn.Linear`, `torch.optim.SGD`."""

import ast
from collections.abc import Callable

from gradsan.check.graph import Cut, Leaf, tick
from gradsan.check.layer_calls import new_layer
from gradsan.check.machine import Call, Machine
from gradsan.check.new_ops import cut, result
from gradsan.check.optimizer_calls import new_optimizer
from gradsan.check.tables import TORCH, entered
from gradsan.check.torch_functions import fresh, torch_function
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import NONE, Context, Distribution, Instance, Layer, Sequence, Tensor, Value, is_true, ops_of
from gradsan.check.walking import reach
from gradsan.facts.incident import REENTRANT
from gradsan.knowledge.effects import paths
from gradsan.knowledge.libraries import WITHOUT_GRAPHS
from gradsan.knowledge.tensors import operation

_UNFOLLOWED = ("torch.func.", "torch.vmap", "torch._", "torch.fx.", "torch.onnx.", "torch.export.")

Handler = Callable[[Machine, Call], Value]


def call_torch(machine: Machine, path: str, call: Call) -> Value:
    """The result of calling a name of torch."""
    call = call._replace(name=path)
    special = TORCH.get(path) or TORCH.get(_last(call))
    if special is not None:
        return special(machine, call)
    if path in paths("wraps") and call.arguments:
        return call.first
    return next(handler for prefixes, handler in _PREFIXES if path.startswith(prefixes))(machine, call)


@entered(TORCH, "torch.autograd.Variable")
def variable(machine: Machine, call: Call) -> Value:
    """The same values without their graph: a leaf, where it is to have a gradient."""
    created = fresh(machine, call)
    return created if created.leaf is not None else cut(machine, call.first, "`Variable`", call.node)


@entered(TORCH, "torch.compile")
def compiled(machine: Machine, call: Call) -> Value:
    """The same, with one op for all that it does."""
    if isinstance(call.first, Layer | Instance):
        call.first.compiled = True
    return call.first


@entered(TORCH, "no_grad", "inference_mode", "enable_grad")
def switch(machine: Machine, call: Call) -> Value:
    """`torch.no_grad()`."""
    last = call.name.rpartition(".")[2]
    return Context(enables=last == "enable_grad", how=f"`torch.{last}()`")


@entered(TORCH, "set_grad_enabled")
def switch_as_asked(machine: Machine, call: Call) -> Value:
    """As a context or as a statement: both switch at once, and the context switches back."""
    match call:
        case Call(node=ast.Call(args=[test, *_]), arguments=[(value, _), *_]):
            enables = machine.choose(call.node, test) if value.truth is None else value.truth
            context = Context(enables=enables, how="`torch.set_grad_enabled(False)`")
            machine.switch_recording(context, call.node, lasts=True)
            return context
    return Value()


def _may_require_gradients(value: Value) -> bool:
    """Whether it does, or nobody knows; a number and None do not."""
    is_plain = isinstance(value, Tensor) and not value.opaque and not ops_of(value)
    leaf = value.leaf if isinstance(value, Tensor) else None
    return not (value is NONE or (is_plain and (leaf is None or not leaf.requires)))


@entered(TORCH, "torch.utils.checkpoint.checkpoint")
def checkpoint(machine: Machine, call: Call) -> Value:
    """A checkpoint calls its function; a re-entrant one gives it arguments that are cut off."""
    inner = call.rest._replace(keywords={})
    if is_true(call.keyword("use_reentrant")):
        return _reentrant(machine, call.first, inner)
    return machine.call(call.first, inner)


def _reentrant(machine: Machine, function: Value, call: Call) -> Value:
    """A re-entrant checkpoint: its arguments are cut off inside; what gets in otherwise is not."""
    begin = tick()
    cut_off = [(Tensor(leaf=Leaf("?", "?")) if ops_of(value) else value, each) for value, each in call.arguments]
    inner = machine.call(function, call._replace(arguments=cut_off))
    own = [op for op in reach(ops_of(inner)) if op.number > begin]
    captured = dict.fromkeys(edge.op for op in own for edge in op.edges if edge.op.number < begin)
    leaves = dict.fromkeys(leaf for op in own for leaf in op.leaves if leaf.name != "?")
    if leaves and not any(map(_may_require_gradients, call.values)):
        site = machine.site(call.node)
        return Tensor(cut=Cut(site, REENTRANT, tuple(own), tuple(leaves)), created=site)
    created = result(machine, "checkpoint", call.arguments, call.node, leaves=tuple(leaves))
    if created.op is not None:
        created.op.captured = tuple(captured)
    return created


def _last(call: Call) -> str:
    return call.name.rpartition(".")[2]


def _unknown(machine: Machine, call: Call) -> Value:
    return unknown_call(machine, call.name, call)


def _data(machine: Machine, call: Call) -> Value:
    """Data sets of tensors hand out parts of them."""
    if _last(call) == "TensorDataset":
        row = Sequence(elements=call.values, kind="tuple")
        return Sequence(elements=[row, row], exact=False)
    given = call.named("dataset").get("dataset")
    if _last(call) == "DataLoader" and given is not None and isinstance(given[0], Sequence):
        return Sequence(elements=given[0].elements[:2] * 2, exact=False)
    return Value()


def _nothing(machine: Machine, call: Call) -> Value:
    return Value(created=machine.site(call.node))


def _optimizer(machine: Machine, call: Call) -> Value:
    return new_optimizer(machine, call) if _is_class(call) else Value()


def _distribution(machine: Machine, call: Call) -> Value:
    created = result(machine, _last(call), call.given, call.node, saves=True)
    return Distribution(op=created.op, created=created.created)


def _function(machine: Machine, call: Call) -> Value:
    return torch_function(machine, _last(call), call)


def _layer(machine: Machine, call: Call) -> Value:
    return new_layer(machine, _last(call), call) if _is_class(call) else torch_function(machine, _last(call), call)


def _anything(machine: Machine, call: Call) -> Value:
    """A function of torch; the constructor of a tensor; or a class of which nothing is known."""
    if _is_class(call) and operation(_last(call)).graph == "builds":
        return torch_function(machine, "tensor", call)
    if _is_class(call):
        return _unknown(machine, call)
    return torch_function(machine, _last(call), call)


def _is_class(call: Call) -> bool:
    return _last(call)[:1].isupper()


# What the names of a part of torch are; the first that fits counts.
_PREFIXES: tuple[tuple[str | tuple[str, ...], Handler], ...] = (
    ("torch.utils.data.", _data),
    (WITHOUT_GRAPHS, _nothing),
    ("torch.optim.", _optimizer),
    ("torch.distributions.", _distribution),
    ("torch.nn.functional.", _function),
    ("torch.nn.", _layer),
    (_UNFOLLOWED, _unknown),
    ("torch.", _anything),
)
