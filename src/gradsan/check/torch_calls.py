"""Functions of torch, which methods of tensors are too: `torch.stack(xs)`, `F.mse_loss(a, b)`, `x.view_as(y)`."""

from collections.abc import Sequence as Several

from gradsan.check.graph import Leaf, Storage
from gradsan.check.machine import Call, Given, Machine
from gradsan.check.new_ops import cut, result
from gradsan.check.values import Const, Sequence, Tensor, Value, is_scalar, is_true, ops_of, parts
from gradsan.knowledge.tensors import (
    CUTTING_FUNCTIONS,
    FRESH_BUT_COPIES,
    FRESH_FUNCTIONS,
    LOSS_WORDS,
    REDUCING,
    SAVE_THEIR_RESULT,
    SCALING,
    VIEWS,
)

_MULTIPLYING = frozenset(
    """
    mul matmul mm bmm dot linear conv1d conv2d conv3d einsum div pow addmm baddbmm inner outer mul_ matmul_
    embedding index_select gather
    """.split()
)
_TUPLES = {"topk": 2, "sort": 2, "eigh": 2, "qr": 2, "svd": 3, "slogdet": 2, "kthvalue": 2}
_PIECES = ("chunk", "split", "unbind", "tensor_split")
_WITH_POSITIONS = ("max", "min", "median", "mode")  # along a dimension, they give positions as well
_JOINING = ("stack", "cat", "add", "sub", "hstack", "concat")
_LOSSES = ("norm", "dist", "dot", "vdot")
_NO_INPUTS = ("out", "generator")
_DEEP = 3  # containers within containers of which a tensor is made


def torch_function(machine: Machine, name: str, call: Call) -> Value:
    """What a function of torch makes of its arguments."""
    given = [*call.arguments, *(each for key, each in call.keywords.items() if key not in _NO_INPUTS)]
    if name in FRESH_FUNCTIONS:
        return _fresh_function(machine, name, given, call)
    if name in CUTTING_FUNCTIONS:
        source = next((value for value, _ in given if ops_of(value) or isinstance(value, Tensor)), None)
        return Tensor() if source is None else cut(machine, source, f"`{name}`", call.node)
    scalar, linear = _shape(name, call)
    made = result(machine, name, given, call.node, linear=linear, scalar=scalar, storages=_saved(name, call.values))
    _share_memory(name, made, call.first)
    return _arranged(name, made, call)


def fresh(machine: Machine, call: Call) -> Tensor:
    """A tensor of numbers; a leaf, where it is to have a gradient."""
    wants = is_true(call.keyword("requires_grad"))
    return Tensor(leaf=Leaf("?", "?") if wants else None, made=machine.site(call.node))


def _fresh_function(machine: Machine, name: str, given: Several[Given], call: Call) -> Value:
    made = fresh(machine, call)
    if name not in FRESH_BUT_COPIES or not given:
        return made
    source = given[0][0]
    if name in ("as_tensor", "asarray") and isinstance(source, Tensor):
        return source
    found = [each for each in parts(source, _DEEP) if isinstance(each, Tensor) and (each.cut or each.differentiable)]
    copied = found[0] if found else source
    if made.leaf is None and (found or source.op is not None):
        return cut(machine, copied, f"`torch.{name}`", call.node)
    return made


def _share_memory(name: str, made: Tensor, first: Value | None) -> None:
    if name in VIEWS and isinstance(first, Tensor):
        made.storage = first.memory
    if name in SAVE_THEIR_RESULT and made.op is not None:
        made.op.saved = (*made.op.saved, (made.storage, made.storage.version))


def _arranged(name: str, made: Tensor, call: Call) -> Value:
    """The result, in the form in which the function returns it."""
    if name in _TUPLES:
        return Sequence(elements=[made] * _TUPLES[name], kind="tuple")
    if name in _PIECES:
        return Sequence(elements=[_copied(made), _copied(made)], exact=False, kind="tuple")
    if name in _WITH_POSITIONS and _along_a_dimension(call):
        return Sequence(elements=[made, Tensor()], kind="tuple")
    return made


def _along_a_dimension(call: Call) -> bool:
    """`x.max(0)` or `x.max(dim=0)`, and not `torch.max(x, y)`."""
    second = call.values[1:2]
    return isinstance(second[0], Const) if second else "dim" in call.keywords


def _shape(name: str, call: Call) -> tuple[bool, bool]:
    """Whether the result is one number, and whether it only adds up and scales."""
    scalars = bool(call.arguments) and all(map(_all_scalar, call.values))
    if name in REDUCING:
        whole = len(call.arguments) <= 1 and "dim" not in call.keywords and "axis" not in call.keywords
        return whole or scalars, scalars
    if name in _JOINING or name in SCALING:
        return scalars, scalars
    named_loss = any(word in name for word in LOSS_WORDS) or name in _LOSSES
    reduced = call.keyword("reduction")
    kept = isinstance(reduced, Const) and reduced.value == "none"
    return (named_loss and not kept) or scalars, False


def _saved(name: str, inputs: Several[Value]) -> tuple[Storage, ...]:
    """What an operation keeps of its inputs: a factor where another one has a graph."""
    if name not in _MULTIPLYING:
        return ()
    tensors = [each for each in inputs if isinstance(each, Tensor)]
    return tuple(
        each.memory for each in tensors if any(other is not each and other.differentiable for other in tensors)
    )


def _all_scalar(value: Value) -> bool:
    if isinstance(value, Sequence):
        return bool(value.elements) and all(map(_all_scalar, value.elements))
    return is_scalar(value)


def _copied(value: Tensor) -> Tensor:
    return Tensor(op=value.op, cut=value.cut, storage=value.storage, made=value.made)
