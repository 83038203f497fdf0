"""Names of torch that are called: what each is by where it stands, `torch.nn.Linear`, `torch.optim.SGD`."""

from collections.abc import Callable
from functools import lru_cache

from gradsan.check.layer_calls import new_layer
from gradsan.check.machine import Call, Machine
from gradsan.check.new_ops import cut, result
from gradsan.check.optimizer_calls import new_optimizer
from gradsan.check.tables import TORCH, entered
from gradsan.check.torch_functions import fresh, torch_function
from gradsan.check.unfollowed import unknown_call
from gradsan.check.values import Distribution, Instance, Layer, Sequence, Tensor, Value
from gradsan.knowledge.effects import paths
from gradsan.knowledge.libraries import WITHOUT_GRAPHS
from gradsan.knowledge.tensors import operation

_UNFOLLOWED = ("torch.func.", "torch.vmap", "torch._", "torch.fx.", "torch.onnx.", "torch.export.")

Handler = Callable[[Machine, Call], Value]


def call_torch(machine: Machine, path: str, call: Call) -> Value:
    """The result of calling a name of torch."""
    call = call.under(path)
    special = TORCH.get(path) or TORCH.get(_last(call))
    if special is not None:
        return special(machine, call)
    if path in paths("wraps") and call.arguments:
        return call.first
    return _by_prefix(path)(machine, call)


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


def _packed(machine: Machine, call: Call) -> Value:
    """Packed sequences, and pairs."""
    packed = torch_function(machine, _last(call), call)
    if isinstance(packed, Tensor):
        packed.plain = "other"
    return packed


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


@lru_cache(maxsize=1024)
def _by_prefix(path: str) -> Handler:
    return next(handler for prefixes, handler in _PREFIXES if path.startswith(prefixes))


# What the names of a part of torch are; the first that fits counts.
_PREFIXES: tuple[tuple[str | tuple[str, ...], Handler], ...] = (
    ("torch.utils.data.", _data),
    ("torch.nn.utils.rnn.", _packed),
    (WITHOUT_GRAPHS, _nothing),
    ("torch.optim.", _optimizer),
    ("torch.distributions.", _distribution),
    ("torch.nn.functional.", _function),
    ("torch.nn.", _layer),
    (_UNFOLLOWED, _unknown),
    ("torch.", _anything),
)
