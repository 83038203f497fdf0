"""Operators: what arithmetic and comparisons make of the values at their sides."""

import ast
import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gradsan.check.graph import Storage
from gradsan.check.machine import Given, Machine
from gradsan.check.new_ops import lost_by, now, opaque, result
from gradsan.check.values import (
    Class,
    Const,
    Function,
    Index,
    Instance,
    Layer,
    Mapping,
    Optimizer,
    Plain,
    Sequence,
    Tensor,
    Value,
    has_graph,
    is_scalar,
    key_of,
    whole_number,
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
_LARGEST_EXPONENT = 9
_LARGEST = 10**9  # numbers beyond it are not worked out: `10**10**10` would never end
_LONGEST = 10_000  # letters; a longer text is not kept: it may have been doubled again and again
_PLAIN = (str, int, float, type(None))  # keys that equal nothing unknown
_SOMETHING = (Sequence, Mapping, Instance, Layer, Tensor, Optimizer, Function, Class, Index)  # never None


def arithmetic(machine: Machine, kind: type[ast.operator], left: Given, right: Given, node: ast.AST) -> Value:
    """The result of a binary operator."""
    name, compute = _ARITHMETIC.get(kind, ("bitwise", None))
    match left[0], right[0]:
        case Const(value=first), Const(value=second):
            return _computed(compute, first, second)
        case Sequence() as first, Sequence() as second if kind is ast.Add:
            exact = first.exact and second.exact
            elements = [*first.elements, *second.elements]
            return Sequence(elements=elements, exact=exact, kind=first.kind, born=machine.world.moment)
        case Sequence(elements=elements), second if kind is ast.Mult:
            times = whole_number(second)
            followed = 2 if times is None else max(0, min(times, 2))
            return Sequence(elements=elements * followed, exact=False, born=machine.world.moment)
    return _operation(machine, name, left, right, node)


def _operation(machine: Machine, name: str, left: Given, right: Given, node: ast.AST) -> Value:
    """What an operation makes of two values, one of which may have a graph."""
    first, second = left[0], right[0]
    graphs = has_graph(first) + has_graph(second)
    if not graphs:
        return _without_graph(machine, name, first, second, node)
    scalar = is_scalar(first) and is_scalar(second)
    forms = ("adds",) if graphs > 1 else ("adds", "scales")
    linear = scalar and operation(name).linear in forms
    storages = _needed(name, first, second)
    return result(machine, name, (left, right), node, linear=linear, scalar=scalar, storages=storages)


def _without_graph(machine: Machine, name: str, first: Value, second: Value, node: ast.AST) -> Value:
    both = (first, second)
    basis = tuple(each for each in both if each.opaque)
    if operation(name).linear != "adds":  # the other may be a weight, a mask, a number of samples
        basis = basis[:1]
    if not any(isinstance(each, Tensor) for each in both):
        return opaque(machine, node, basis) if basis else Value(created=machine.site(node))
    if basis:
        return Tensor(created=machine.site(node), opaque=True, since=now(machine), basis=basis)
    plain: Plain | None = "number" if all(map(_is_number, both)) else None
    return Tensor(cut=lost_by(machine, both), created=machine.site(node), plain=plain)


def compare(left: Value, kind: ast.cmpop, right: Value) -> bool | None:
    """Whether a comparison holds; None: not known."""
    relation, wanted = _RELATIONS.get(type(kind), (None, True))
    outcome = _ordered(kind, left, right) if relation is None else relation(left, right)
    return None if outcome is None else outcome == wanted


def _ordered(kind: ast.cmpop, left: Value, right: Value) -> bool | None:
    match left, right:
        case (Const(value=first), Const(value=second)) | (
            Index(position=first),
            Const(value=0 as second) | Index(position=0 as second),
        ):
            with suppress(TypeError):
                return bool(_COMPARISONS[type(kind)](first, second))
    return None


def _is_number(value: Value) -> bool:
    """Whether it is a number of Python's, for certain."""
    if isinstance(value, Tensor):
        return value.plain == "number"
    return isinstance(value, Index) or (isinstance(value, Const) and isinstance(value.value, int | float))


def _needed(name: str, first: Value, second: Value) -> tuple[Storage, ...]:
    """The gradient of a product needs the other factor."""
    row = operation(name)
    kept = {*row.factors, *row.inputs}
    operands = ((1, first, second), (0, second, first))
    factors = [other for place, one, other in operands if place in kept and has_graph(one)]
    return tuple(each.memory for each in factors if isinstance(each, Tensor))


def _computed(compute: Callable[[Any, Any], Any] | None, left: object, right: object) -> Value:
    largest = _LARGEST_EXPONENT if compute is operator.pow else _LARGEST
    is_small = _is_smaller(left, _LARGEST) and _is_smaller(right, largest)
    is_text = isinstance(left, str) and isinstance(right, str) and compute is operator.add
    if compute is not None and (is_small or is_text):
        with suppress(ArithmeticError, TypeError, ValueError):
            computed = compute(left, right)
            return Value() if isinstance(computed, str) and len(computed) > _LONGEST else Const(value=computed)
    return Value()


def _is_smaller(number: object, bound: int) -> bool:
    return isinstance(number, int | float) and abs(number) < bound


def _identical(left: Value, right: Value) -> bool | None:
    match left, right:
        case Const(value=first), Const(value=second):
            return first is second or (first == second and type(first) is type(second))
        case (Const(value=None), other) | (other, Const(value=None)):
            return False if isinstance(other, _SOMETHING) or other.op is not None else None
    return True if left is right else None


def _contained(left: Value, right: Value) -> bool | None:
    if not isinstance(right, Sequence | Mapping):
        return None
    keys = list(right.entries) if isinstance(right, Mapping) else [key_of(each) for each in right.elements]
    if key_of(left) in keys:
        return True
    is_plain = isinstance(left, Const) and all(isinstance(each, _PLAIN) for each in keys)
    return False if right.exact and (is_plain or not keys) else None


_RELATIONS: dict[type[ast.cmpop], tuple[Callable[[Value, Value], bool | None], bool]] = {
    ast.Is: (_identical, True),
    ast.IsNot: (_identical, False),
    ast.In: (_contained, True),
    ast.NotIn: (_contained, False),
}
