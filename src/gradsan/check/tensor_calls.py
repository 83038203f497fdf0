"""Methods of tensors: `x.detach()`, `x.view_as(y)`, `x.zero_()`, `loss.backward()`."""

from collections.abc import Callable

from gradsan.check.gathering import gather_total
from gradsan.check.graph import LIKELY, Leaf
from gradsan.check.machine import Call, Machine
from gradsan.check.new_ops import cut, edit, require, untyped
from gradsan.check.pass_calls import backward
from gradsan.check.tables import RECEIVERS, entered
from gradsan.check.torch_functions import fresh, torch_function
from gradsan.check.values import Distribution, Library, Plain, Tensor, Value, is_false, ops_of
from gradsan.knowledge.tensors import WHOLE_TYPES, edits, operation

_PLAIN: dict[str, Plain] = {"number": "number", "object": "other"}
METHODS: dict[str, Callable[[Machine, Tensor, Call], Value]] = {}  # those that are no functions of torch


@entered(RECEIVERS, Tensor)
def tensor_method(machine: Machine, value: Tensor, call: Call) -> Value:
    """`tensor.name(...)`."""
    name = call.name
    if name in METHODS:
        return METHODS[name](machine, value, call)
    row = operation(name)
    if row.graph == "describes" or (name == "type" and not call.arguments):
        return Value()
    if row.graph in ("creates", "builds"):
        return fresh(machine, call)
    if row.cuts or _is_cast_to_whole(call):
        bare = cut(machine, value, f"`.{name}()`", call.node)
        bare.plain = _PLAIN.get(row.returns)
        return bare
    if edits(name):
        return _in_place(machine, value, call)
    return torch_function(machine, name, call.on(call.receiver(value)))


@entered(RECEIVERS, Distribution)
def distribution_method(machine: Machine, value: Distribution, call: Call) -> Value:
    """`distribution.sample()` has no graph, all else has that of the parameters."""
    if call.name == "sample":
        return cut(machine, Tensor(op=value.op), "`.sample()`", call.node)
    return torch_function(machine, call.name, call.on((value, None)))


@entered(METHODS, "backward")
def _backward(machine: Machine, value: Tensor, call: Call) -> Value:
    return backward(machine, call.receiver(value), call)


@entered(METHODS, "retain_grad", "register_hook")
def _itself(machine: Machine, value: Tensor, call: Call) -> Value:
    return value


@entered(METHODS, "detach_")
def _detach_in_place(machine: Machine, value: Tensor, call: Call) -> Value:
    value.op, value.cut = None, cut(machine, value, "`.detach_()`", call.node).cut
    return value


@entered(METHODS, "requires_grad_")
def _require(machine: Machine, value: Tensor, call: Call) -> Value:
    require(machine, value, call.node, wanted=not is_false(call.first))
    return value


def _in_place(machine: Machine, value: Tensor, call: Call) -> Value:
    """`tensor.zero_()` and the like: it clears a gradient, changes a parameter, or edits a tensor."""
    of = value.of
    if isinstance(of, Tensor) and of.leaf is not None:
        _through_a_leaf(machine, value, of.leaf, call)
    elif value.leaf is not None and value.op is None:
        machine.world.update(value.leaf, machine.site(call.node), certain=machine.is_certain)
    else:
        edit(machine, value, call.node)
        _take_in(machine, value, call)
    return value


def _take_in(machine: Machine, value: Value, call: Call) -> None:
    """What is changed in place takes on the graph of what it is changed with, beside its own."""
    created = torch_function(machine, call.name.removesuffix("_"), call.on((value, None)))
    if isinstance(created, Tensor) and created.op is not None:
        _, written = call.receiver(value)
        if written is not None:
            gather_total(machine, written, value, created)
        value.op, value.cut = created.op, None


def _through_a_leaf(machine: Machine, value: Tensor, leaf: Leaf, call: Call) -> None:
    """`p.grad.zero_()` clears; `p.data.mul_(…)` and `p.grad.clamp_(…)` are how somebody trains."""
    if value.cut is None and call.name == "zero_":
        machine.world.clear([leaf])
    else:
        machine.world.update(leaf, machine.site(call.node), counted=False, certain=machine.is_certain)


def changes_in_place(machine: Machine, value: Value, call: Call) -> Value | None:
    """`total.add_(loss)`: whatever it is, it has the graph from now on."""
    if not edits(call.name) or operation(call.name.removesuffix("_")).is_assumed or not any(map(ops_of, call.values)):
        return None
    _take_in(machine, value, call)
    return value


def answers_as_tensor(machine: Machine, value: Value, call: Call) -> Value | None:
    """What has a graph is taken for a tensor, where only a tensor has such a method."""
    if value.op is None:
        return None
    row = operation(call.name)
    if row.cuts:
        return cut(machine, value, f"`.{call.name}()`", call.node)
    if row.graph == "describes":
        return Value()
    if value.op.doubt > LIKELY or row.is_assumed:
        return None
    created = torch_function(machine, call.name, call.on(call.receiver(value)))
    return untyped(created) if isinstance(created, Tensor) else created


def _is_cast_to_whole(call: Call) -> bool:
    """`x.to(torch.long)`: numbers of such types have no gradients."""
    types = (each.path.rpartition(".")[2] for each in call.values if isinstance(each, Library))
    return call.name in ("to", "type") and any(each in WHOLE_TYPES for each in types)
