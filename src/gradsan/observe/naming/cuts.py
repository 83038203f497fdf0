"""Expressions whose value has no history whatever they are given, told from their source."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.observe.naming.selection import inputs, last_name
from gradsan.source.stores import text

COMPARISON = "a comparison"
GRADIENT = "`autograd.grad` without `create_graph=True`"

# Methods and attributes that hand over bare values.
_HANDING_OVER = frozenset({"detach", "item", "tolist", "numpy", "data", "detach_"})
# What has no gradient, as a method or as a function of `torch`.
_DECIDING = frozenset(
    {"argmax", "argmin", "argsort", "multinomial", "bernoulli", "nonzero", "one_hot", "searchsorted", "bucketize"}
    | {"eq", "ne", "gt", "lt", "ge", "le", "isclose", "logical_and", "logical_or", "logical_not", "bincount"}
    | {"sample", "sample_n", "count_nonzero", "histc", "unique"}
)
_CONVERTING = frozenset({"long", "int", "bool", "short", "byte", "char"})
_WHOLE_TYPES = frozenset({"long", "int", "int64", "int32", "int16", "int8", "uint8", "bool", "short"})
# Builders that copy values.
_BUILDING = frozenset({"tensor", "Tensor", "FloatTensor", "DoubleTensor", "LongTensor", "from_numpy", "from_dlpack"})
_AS_NUMBERS = frozenset({"float", "int", "bool", "round"})
_NUMPY = frozenset({"np", "numpy"})


@dataclass(frozen=True, slots=True)
class Cut:
    """A place that loses the history of what it is given."""

    node: ast.expr
    given: tuple[ast.expr, ...]
    written: str  # `.item()`, `torch.tensor(…)`, a comparison
    line: int


def cut_at(node: ast.expr) -> Cut | None:
    """How an expression cuts, if it does."""
    match node:
        case ast.Attribute(value=value, attr=name) if name in _HANDING_OVER:
            return Cut(node, (value,), f".{name}", node.end_lineno or node.lineno)
        case ast.Compare(left=left, comparators=others):
            return Cut(node, (left, *others), COMPARISON, node.lineno)
        case ast.Call() if _asks_for_gradients(node):
            outputs = [*node.args[:1], *(each.value for each in node.keywords if each.arg == "outputs")]
            return Cut(node, tuple(outputs), GRADIENT, node.lineno)
        case ast.Call():
            written = _cutting_call(node)
            return None if written is None else Cut(node, tuple(_given(node)), written, _line(node))
    return None


def _cutting_call(node: ast.Call) -> str | None:  # one a kind of call
    name = last_name(node)
    match node.func:
        case ast.Attribute(value=value, attr=attr):
            owner = text(value)
            root = (owner or "").split(".")[0]
            if root in _NUMPY:
                return f"{owner}.{attr}(…)"
            if attr in _HANDING_OVER | _DECIDING | _CONVERTING:
                return f".{attr}()" if root not in {"torch", "F"} else f"{owner}.{attr}()"
            if attr in _BUILDING:
                return f"{owner}.{attr}(…)"
            if attr in {"to", "type"} and any(map(_is_whole, (*node.args, *(each.value for each in node.keywords)))):
                return f".{attr}(…)"
        case ast.Name() if name in _AS_NUMBERS | _BUILDING:
            return f"{name}(…)"
    return None


def _asks_for_gradients(node: ast.Call) -> bool:
    """`torch.autograd.grad(outputs, inputs)`: what it gives back is a value, unless it is asked to record itself."""
    owner, _, name = (text(node.func) or "").rpartition(".")
    if name != "grad" or owner not in {"", "autograd", "torch.autograd"} or len(node.args) + len(node.keywords) < 2:  # noqa: PLR2004 # two things
        return False
    recorded = next((each.value for each in node.keywords if each.arg == "create_graph"), None)
    return recorded is None or (isinstance(recorded, ast.Constant) and recorded.value is False)


def _given(node: ast.Call) -> Iterator[ast.expr]:
    if isinstance(node.func, ast.Attribute) and (text(node.func.value) or "").split(".")[0] not in {"torch", "F", "nn"}:
        yield from inputs(node)
    else:
        yield from (*node.args, *(keyword.value for keyword in node.keywords))


def _is_whole(node: ast.expr) -> bool:
    return (text(node) or "").rpartition(".")[2] in _WHOLE_TYPES


def _line(node: ast.Call) -> int:
    return (node.func.end_lineno or node.lineno) if isinstance(node.func, ast.Attribute) else node.lineno
