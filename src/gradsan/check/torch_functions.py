"""Functions of torch, which methods of tensors are too: `torch.stack(xs)`, `F.mse_loss(a, b)`, `x.view_as(y)`."""

from collections.abc import Sequence as Several

from gradsan.check.graph import Leaf, Storage
from gradsan.check.machine import Call, Given, Machine
from gradsan.check.new_ops import cut, result
from gradsan.check.values import NONE, Const, Sequence, Tensor, Value, is_scalar, is_true, key_of, ops_of, parts
from gradsan.knowledge.hints import LOSS_WORDS
from gradsan.knowledge.operation import Operation
from gradsan.knowledge.tensors import operation

_LENGTHS = {"pair": 2, "triple": 3}
_NO_INPUTS = ("out", "generator")
_DIMENSIONS = ("dim", "axis")
_DEEP = 3  # containers within containers of which a tensor consists


def torch_function(machine: Machine, name: str, call: Call) -> Value:
    """What a function of torch makes of its arguments."""
    row = operation(name)
    given = [*call.arguments, *(each for key, each in call.keywords.items() if key not in _NO_INPUTS)]
    if row.graph in ("creates", "builds"):
        return _fresh_function(machine, row, given, call)
    if row.cuts or row.graph == "describes":
        return _cut_function(machine, name, given, call)
    scalar, linear = _shape(name, row, call)
    created = result(machine, name, given, call.node, linear=linear, scalar=scalar, storages=_saved(row, call.values))
    _share_memory(row, created, call.first)
    return _arranged(row, created, call)


def _cut_function(machine: Machine, name: str, given: Several[Given], call: Call) -> Value:
    tensors = (value for value, _ in given if isinstance(value, Tensor) or ops_of(value))
    first = next(tensors, None)
    return Tensor() if first is None else cut(machine, first, f"`{name}`", call.node)


def fresh(machine: Machine, call: Call) -> Tensor:
    """A tensor of numbers; a leaf, where it is to have a gradient."""
    wants = is_true(call.keyword("requires_grad"))
    return Tensor(leaf=Leaf("?", "?", registers=False) if wants else None, created=machine.site(call.node))


def _fresh_function(machine: Machine, row: Operation, given: Several[Given], call: Call) -> Value:
    """New numbers, or those of what it is given."""
    created = fresh(machine, call)
    if row.graph == "creates" or not given:
        return created
    source = given[0][0]
    if row.memory == "itself if possible" and isinstance(source, Tensor):
        return source
    copied = next((each for each in parts(source, _DEEP) if each.op or each.leaf or each.cut), None)
    if copied is None:
        return created
    bare = cut(machine, copied, f"`torch.{row.name}`", call.node)
    if created.leaf is None:
        return bare
    created.leaf.made_of = bare.cut
    return created


def _share_memory(row: Operation, created: Tensor, first: Value) -> None:
    if row.views and isinstance(first, Tensor):
        created.storage = first.memory
    if row.saves_result and created.op is not None:
        created.op.saved = (*created.op.saved, (created.storage, created.storage.version))


def _arranged(row: Operation, created: Tensor, call: Call) -> Value:
    """The result, in the form in which the function returns it."""
    if row.returns in _LENGTHS:
        return Sequence(elements=[created] * _LENGTHS[row.returns], kind="tuple")
    if row.returns == "tensors":
        return Sequence(elements=[_copied(created), _copied(created)], exact=False, kind="tuple")
    if row.returns == "pair for a dimension" and _along_a_dimension(call):
        return Sequence(elements=[created, Tensor()], kind="tuple")
    return created


def _along_a_dimension(call: Call) -> bool:
    """`x.max(0)` or `x.max(dim=0)`, and not `torch.max(x, y)`."""
    return isinstance(call.named("input", "dim").get("dim", (None, None))[0], Const)


def _shape(name: str, row: Operation, call: Call) -> tuple[bool, bool]:
    """Whether the result is one number, and whether it only adds up and scales."""
    scalars = bool(call.arguments) and all(map(_all_scalar, call.values))
    reduces = len(call.arguments) <= row.reduces and call.keywords.keys().isdisjoint(_DIMENSIONS)
    if row.linear is not None:
        return reduces or scalars, scalars
    reduces = reduces or any(word in name for word in LOSS_WORDS)
    return scalars or (reduces and key_of(call.keyword("reduction") or NONE) != "none"), False


def _saved(row: Operation, inputs: Several[Value]) -> tuple[Storage, ...]:
    """What an operation keeps of its inputs: for their own gradients, or for that of another one."""
    tensors = [each for each in inputs if isinstance(each, Tensor)]
    with_graph = [each for each in tensors if each.differentiable]
    own = [each for place, each in enumerate(tensors) if place in row.inputs and with_graph]
    factors = [each for place, each in enumerate(tensors) if place in row.factors]
    kept = [*own, *(each for each in factors if [other for other in with_graph if other is not each])]
    return tuple(each.memory for each in kept)


def _all_scalar(value: Value) -> bool:
    if isinstance(value, Sequence):
        return bool(value.elements) and all(map(_all_scalar, value.elements))
    return is_scalar(value)


def _copied(value: Tensor) -> Tensor:
    return Tensor(op=value.op, cut=value.cut, storage=value.storage, created=value.created)
