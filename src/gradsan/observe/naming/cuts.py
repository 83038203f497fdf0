"""Expressions whose value has no graph whatever they are given, read from their source."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradsan.facts.course import Cutting
from gradsan.facts.incident import REENTRANT
from gradsan.knowledge.effects import does
from gradsan.knowledge.libraries import NUMPY, TORCH
from gradsan.knowledge.tensors import WHOLE_TYPES, operation
from gradsan.observe.naming.selection import inputs
from gradsan.source.stores import called_line, last_line, spelled

COMPARISON = "a comparison"
_CREATE = 4  # the place of `create_graph` among the arguments
GRADIENT = "`autograd.grad` without `create_graph=True`"

# What a cut does, as a report says it; what is not among these is a decision, and no accident.
_HOW: dict[str, Cutting] = {
    "detach": "detach",
    "detach_": "detach",
    "data": "data",
    "item": "number",
    "tolist": "number",
    "float": "number",
    "numpy": "numpy",
    "__array__": "numpy",
}
_DECIDES = frozenset(["floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "isclose"])  # of `math`


@dataclass(frozen=True, slots=True)
class Cut:
    """A place that loses the graph of what it is given."""

    node: ast.expr
    given: tuple[ast.expr, ...]
    written: str  # `.item()`, `torch.tensor(…)`, a comparison
    line: int
    how: Cutting | None = None
    hands_over: bool = False  # the very values that it is given


def clause(written: str) -> str:
    """What cuts, within a sentence."""
    return written if written in (COMPARISON, GRADIENT, REENTRANT) else f"`{written}`"


def cut_at(node: ast.expr) -> Cut | None:
    """How an expression cuts, if it does."""
    match node:
        case ast.Attribute(value=value, attr=name) if operation(name).graph == "drops":
            return Cut(node, (value,), f".{name}", last_line(node), _HOW[name], hands_over=True)
        case ast.Compare(left=left, comparators=others):
            return Cut(node, (left, *others), COMPARISON, node.lineno)
        case ast.Call() if _asks_for_gradients(node):
            outputs = [*node.args[:1], *(each.value for each in node.keywords if each.arg == "outputs")]
            return Cut(node, tuple(outputs), GRADIENT, node.lineno)
        case ast.Call(func=ast.Attribute(value=value, attr=name)):
            return _method(node, spelled(value), name)
        case ast.Call(func=ast.Name(id=name)) if does(name, "converts") or _builds(name):
            return _cut(node, f"{name}(…)", "new-tensor" if _builds(name) else _HOW.get(name))
    return None


def _method(node: ast.Call, owner: str, name: str) -> Cut | None:
    """A method of a tensor, or a function of a library."""
    root = owner.partition(".")[0]
    row, draws = operation(name), does(name, "draws")
    if root in NUMPY:
        return _cut(node, f"{owner}.{name}(…)", "numpy")
    if root == "math":
        return _cut(node, f"{owner}.{name}(…)", None if name in _DECIDES else "number")
    if row.cuts or draws:
        written = f"{owner}.{name}()" if root in TORCH else f".{name}()"
        return _cut(node, written, _HOW.get(name), hands_over=row.graph == "drops" or draws)
    if _builds(name):
        return _cut(node, f"{owner}.{name}(…)", "new-tensor")
    if name in {"to", "type"} and any(map(_is_whole, (*node.args, *(each.value for each in node.keywords)))):
        return _cut(node, f".{name}(…)", None)
    return None


def _cut(node: ast.Call, written: str, how: Cutting | None, *, hands_over: bool = False) -> Cut:
    return Cut(node, tuple(_given(node)), written, called_line(node), how, hands_over=hands_over)


def _builds(name: str) -> bool:
    """Whether it copies values; `torch.as_tensor` gives a tensor back as it is."""
    row = operation(name)
    return row.graph == "builds" and row.memory == "new"


def _asks_for_gradients(node: ast.Call) -> bool:
    """`torch.autograd.grad(outputs, inputs)`: what it gives back is a value, unless it is asked to record itself."""
    owner, _, name = spelled(node.func).rpartition(".")
    if name != "grad" or owner not in {"", "autograd", "torch.autograd"} or len(node.args) + len(node.keywords) < 2:  # noqa: PLR2004 # two things
        return False
    given = {each.arg: each.value for each in node.keywords}
    recorded = node.args[_CREATE] if len(node.args) > _CREATE else given.get("create_graph")
    return recorded is None or (isinstance(recorded, ast.Constant) and recorded.value is False)


def _given(node: ast.Call) -> Iterator[ast.expr]:
    if isinstance(node.func, ast.Attribute) and spelled(node.func.value).split(".")[0] not in TORCH:
        yield from inputs(node)
    else:
        yield from (*node.args, *(keyword.value for keyword in node.keywords))


def _is_whole(node: ast.expr) -> bool:
    return spelled(node).rpartition(".")[2] in WHOLE_TYPES
