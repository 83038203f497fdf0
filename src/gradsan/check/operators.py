"""Operators: what arithmetic and comparisons make of the values at their sides."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from gradsan.check.graph import Storage
from gradsan.check.machine import Given, Machine
from gradsan.check.values import (
    Class,
    Const,
    Function,
    Index,
    Instance,
    Layer,
    Library,
    Mapping,
    Optimizer,
    Plain,
    Sequence,
    Tensor,
    Value,
    key_of,
    memory,
    ops_of,
)
from gradsan.knowledge.tensors import operation

_ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("div", operator.truediv),
    ast.FloorDiv: ("floor_divide", operator.floordiv),
    ast.Mod: ("remainder", operator.mod),
    ast.MatMult: ("matmul", operator.matmul),
    ast.Pow: ("pow", operator.pow),
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_LARGEST = 10**9  # numbers beyond it are not worked out: `10**10**10` would never end
_SOMETHING = (Sequence, Mapping, Instance, Layer, Tensor, Optimizer, Function, Class, Index)  # never None


class Operators(Machine):
    """Arithmetic, comparisons, truth."""

    def arithmetic(self, kind: type[ast.operator], left: Given, right: Given, node: ast.AST) -> Value:
        """The result of a binary operator."""
        name, compute = _ARITHMETIC.get(kind, ("bitwise", None))
        first, second = left[0], right[0]
        if isinstance(first, Const) and isinstance(second, Const):
            return _computed(compute, first.value, second.value)
        if isinstance(first, Sequence) and isinstance(second, Sequence) and kind is ast.Add:
            exact = first.exact and second.exact
            return Sequence(
                elements=[*first.elements, *second.elements], exact=exact, kind=first.kind, born=self.world.moment
            )
        if isinstance(first, Sequence) and kind is ast.Mult:
            times = second.value if isinstance(second, Const) and isinstance(second.value, int) else 2
            return Sequence(elements=first.elements * max(0, min(times, 2)), exact=False, born=self.world.moment)
        return self.computed(name, left, right, node)

    def computed(self, name: str, left: Given, right: Given, node: ast.AST) -> Value:
        """What an operation makes of two values, one of which may have a history."""
        first, second = left[0], right[0]
        if not (_has_history(first) or _has_history(second)):
            opaque = first.opaque or second.opaque
            cut = next((each.cut for each in (first, second) if isinstance(each, Tensor) and each.cut), None)
            if isinstance(first, Tensor) or isinstance(second, Tensor):
                plain: Plain | None = "number" if _is_number(first) and _is_number(second) else None
                return Tensor(cut=None if opaque else cut, made=self.site(node), opaque=opaque, plain=plain)
            return Value(made=self.site(node), opaque=opaque)
        linear = operation(name).linear
        scales = linear == "scales" and not (_has_history(first) and _has_history(second))
        scalar = _is_scalar(first) and _is_scalar(second)
        return self.result(
            name,
            (left, right),
            node,
            form="linear" if scalar and (scales or linear == "adds") else "other",
            scalar=scalar,
            storages=_needed(name, first, second),
        )

    def compare(self, left: Value, kind: ast.cmpop, right: Value) -> bool | None:
        """Whether a comparison holds; None: not known."""
        match kind:
            case ast.Is() | ast.IsNot():
                return _identical(left, right, negated=isinstance(kind, ast.IsNot))
            case ast.In() | ast.NotIn():
                found = _contained(left, right)
                return found if found is None or isinstance(kind, ast.In) else not found
        if isinstance(left, Const) and isinstance(right, Const):
            try:
                return bool(_COMPARISONS[type(kind)](left.value, right.value))
            except TypeError:
                return None
        if isinstance(left, Index) and isinstance(right, Const) and right.value == 0:
            return bool(_COMPARISONS[type(kind)](left.position, 0))
        return None

    def truth(self, value: Value) -> bool | None:
        """Whether a value counts as true; None: not known."""
        match value:
            case Const(value=known):
                return bool(known)
            case Index(position=position):
                return position > 0
            case Sequence(elements=elements, exact=exact):
                return bool(elements) or (False if exact else None)
            case Mapping(entries=entries, exact=exact):
                return bool(entries) or (False if exact else None)
            case Library(path=path):
                return True if "." not in path or path.startswith("builtins.") else None  # `os.environ` may be empty
            case Instance() | Function() | Class() | Layer() | Optimizer():
                return True
        return None


def _has_history(value: Value) -> bool:
    return bool(ops_of(value)) or (isinstance(value, Tensor) and value.differentiable)


def _is_number(value: Value) -> bool:
    """Whether it is a number of Python's, for certain."""
    if isinstance(value, Tensor):
        return value.plain == "number"
    return isinstance(value, Index) or (isinstance(value, Const) and isinstance(value.value, int | float))


def _is_scalar(value: Value) -> bool:
    """Whether it is one number as far as can be told: a loss, a Python number, or something without a history."""
    return value.op.scalar if value.op is not None else not (isinstance(value, Tensor) and value.differentiable)


def _needed(name: str, first: Value, second: Value) -> tuple[Storage, ...]:
    """The gradient of a product needs the other factor."""
    row = operation(name)
    kept = {*row.factors, *row.inputs}
    needed = [memory(second)] if 1 in kept and _has_history(first) else []
    needed += [memory(first)] if 0 in kept and _has_history(second) else []
    return tuple(each for each in needed if each is not None)


def _computed(compute: Callable[[Any, Any], Any] | None, left: object, right: object) -> Value:
    numbers = all(isinstance(each, int | float) and abs(each) < _LARGEST for each in (left, right))
    texts = isinstance(left, str) and isinstance(right, str) and compute is operator.add
    if compute is None or not (numbers or texts) or (compute is operator.pow and not _small(right)):
        return Value()
    try:
        return Const(value=compute(left, right))
    except (ArithmeticError, TypeError, ValueError):
        return Value()


def _small(exponent: object) -> bool:
    return isinstance(exponent, int | float) and abs(exponent) <= 8  # noqa: PLR2004 # larger ones are not needed


def _identical(left: Value, right: Value, *, negated: bool) -> bool | None:
    if isinstance(left, Const) and isinstance(right, Const):
        same = left.value is right.value or (left.value == right.value and type(left.value) is type(right.value))
        return same != negated
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and one.value is None and (isinstance(other, _SOMETHING) or other.op is not None):
            return negated
    if left is right:
        return not negated
    return None


def _contained(left: Value, right: Value) -> bool | None:
    key = key_of(left)
    match right:
        case Mapping(entries=entries, exact=exact):
            if key in entries:
                return True
            if not entries and exact:
                return False
            return False if exact and isinstance(left, Const) and _plain(entries) else None
        case Sequence(elements=elements, exact=exact):
            keys = [key_of(each) for each in elements]
            if key in keys:
                return True
            known = exact and isinstance(left, Const) and all(isinstance(each, Const) for each in elements)
            return False if known or (exact and not elements) else None
    return None


def _plain(keys: object) -> bool:
    return all(isinstance(each, str | int | float | bool | None) for each in keys)  # type: ignore[attr-defined]
