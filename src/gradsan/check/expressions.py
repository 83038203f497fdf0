"""Expressions: names, literals, operators, conditions; calls, items and comprehensions stand in files of their own."""

import ast

from gradsan.check.imports import name_of
from gradsan.check.machine import Machine
from gradsan.check.new_ops import cut, result
from gradsan.check.operators import arithmetic, compare
from gradsan.check.tables import EXPRESSIONS, entered
from gradsan.check.values import (
    NONE,
    Const,
    Function,
    Imported,
    Library,
    Mapping,
    Sequence,
    Tensor,
    Value,
    entries_of,
    is_exact,
    is_scalar,
    key_of,
    leaves_of,
    ops_of,
)
from gradsan.source.tree import STRINGS_OF_PARTS

_BUILTIN_CONSTANTS = {"True": True, "False": False, "None": None, "__debug__": True}
_KINDS: dict[type[ast.expr], str] = {ast.Tuple: "tuple", ast.List: "list", ast.Set: "set"}


@entered(EXPRESSIONS, ast.Constant)
def constant(machine: Machine, node: ast.Constant) -> Value:
    """A number, a text, None."""
    return NONE if node.value is None else Const(value=node.value)


@entered(EXPRESSIONS, ast.Name)
def name(machine: Machine, node: ast.Name) -> Value:
    """What a name stands for here; a built-in, where nobody has bound it."""
    frame = machine.frame
    near = None if node.id in frame.foreign else frame.names.get(node.id)
    if near is not None and not isinstance(near, Imported):  # as mostly
        return near
    home = frame.home_of(node.id) or machine.modules.get(frame.source.path)
    known = None if home is None else name_of(machine, home, node.id)
    if known is not None:
        return known
    if node.id in _BUILTIN_CONSTANTS:
        return Const(value=_BUILTIN_CONSTANTS[node.id])
    return Library(path=f"builtins.{node.id}")


@entered(EXPRESSIONS, ast.Attribute)
def attribute(machine: Machine, node: ast.Attribute) -> Value:
    """`owner.name`, not called."""
    return machine.attribute(machine.evaluate(node.value), node.attr, node)


@entered(EXPRESSIONS, ast.BinOp)
def binary(machine: Machine, node: ast.BinOp) -> Value:
    """`left + right`."""
    left = (machine.evaluate(node.left), node.left)
    return arithmetic(machine, type(node.op), left, (machine.evaluate(node.right), node.right), node)


@entered(EXPRESSIONS, ast.UnaryOp)
def unary(machine: Machine, node: ast.UnaryOp) -> Value:
    """`-x`, `not x`."""
    value = machine.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        known = value.truth
        return Value() if known is None else Const(value=not known)
    if isinstance(value, Const) and not isinstance(node.op, ast.UAdd):
        is_negated = isinstance(node.op, ast.USub) and isinstance(value.value, int | float)
        return Const(value=-value.value) if is_negated else Value()  # type: ignore[operator]
    if isinstance(node.op, ast.USub) and (ops_of(value) or leaves_of(value)):
        scalar = is_scalar(value)
        return result(machine, "neg", [(value, node.operand)], node, linear=scalar, scalar=scalar)
    return value


@entered(EXPRESSIONS, ast.BoolOp)
def boolean(machine: Machine, node: ast.BoolOp) -> Value:
    """`first or second`: the first that decides; of one that cannot be known, a tensor is taken for true."""
    stops_at = isinstance(node.op, ast.Or)
    for each in node.values[:-1]:
        value = machine.evaluate(each)
        known = value.truth
        if known is None and not (stops_at and (ops_of(value) or isinstance(value, Tensor))):
            return Value(created=machine.site(node))
        if known is None or known == stops_at:
            return value
    return machine.evaluate(node.values[-1])


@entered(EXPRESSIONS, ast.Compare)
def comparison(machine: Machine, node: ast.Compare) -> Value:
    """`a < b < c`: known, or a value without a graph."""
    values = [machine.evaluate(each) for each in (node.left, *node.comparators)]
    outcomes = [compare(left, kind, right) for left, kind, right in zip(values, node.ops, values[1:], strict=False)]
    if False in outcomes or None not in outcomes:
        return Const(value=False not in outcomes)
    tensor = next((each for each in values if isinstance(each, Tensor)), None)
    return Value() if tensor is None else cut(machine, tensor, "a comparison", node)


@entered(EXPRESSIONS, ast.IfExp)
def conditional(machine: Machine, node: ast.IfExp) -> Value:
    """`a if test else b`. In `0.0 if done else value` the constant is the exception."""
    holds = known_truth(machine, node.test)
    if holds is None:
        unlikely = isinstance(node.body, ast.Constant) and not isinstance(node.orelse, ast.Constant)
        holds = machine.choose(node, node.test, unlikely=unlikely)
    return machine.evaluate(node.body if holds else node.orelse)


def known_truth(machine: Machine, test: ast.expr) -> bool | None:
    """Whether a condition holds; None: not known."""
    match test:
        case ast.BoolOp(operator, values):
            decisive = isinstance(operator, ast.Or)
            outcomes = [known_truth(machine, each) for each in values]
            return decisive if decisive in outcomes else None if None in outcomes else not decisive
        case ast.UnaryOp(ast.Not(), operand):
            known = known_truth(machine, operand)
            return None if known is None else not known
    return machine.evaluate(test).truth


@entered(EXPRESSIONS, ast.Tuple, ast.List, ast.Set)
def sequence(machine: Machine, node: ast.Tuple | ast.List | ast.Set) -> Value:
    """`[a, *b]`."""
    created = Sequence(kind=_KINDS[type(node)], born=machine.world.moment)
    for each in node.elts:
        value = machine.evaluate(each)
        if isinstance(each, ast.Starred):
            created.take(machine.elements(value, each))
            created.exact &= is_exact(value)
        else:
            created.elements.append(value)
    return created


@entered(EXPRESSIONS, ast.Dict)
def mapping(machine: Machine, node: ast.Dict) -> Value:
    """`{key: value, **others}`."""
    created = Mapping(born=machine.world.moment)
    for key, each in zip(node.keys, node.values, strict=True):
        value = machine.evaluate(each)
        if key is not None:
            created.entries[key_of(machine.evaluate(key))] = value
            continue
        created.exact &= is_exact(value)
        created.entries |= entries_of(value)
    return created


@entered(EXPRESSIONS, ast.Lambda)
def lambda_(machine: Machine, node: ast.Lambda) -> Value:
    """A function without a name."""
    return Function(node=node, source=machine.frame.source, outer=machine.frame)


@entered(EXPRESSIONS, ast.NamedExpr)
def named(machine: Machine, node: ast.NamedExpr) -> Value:
    """`(name := value)`."""
    value = machine.evaluate(node.value)
    machine.assign(node.target, value)
    return value


@entered(EXPRESSIONS, ast.Await, ast.Starred)
def inner(machine: Machine, node: ast.Await | ast.Starred) -> Value:
    """What is awaited or starred."""
    return machine.evaluate(node.value)


@entered(EXPRESSIONS, ast.Yield)
def yield_(machine: Machine, node: ast.Yield) -> Value:
    """A generator gives something; what was created for it until now is its own."""
    machine.frame.yielded.append(machine.optional(node.value))
    machine.frame.marks.append(len(machine.world.log[-1]) if machine.world.log else 0)
    return Value()


@entered(EXPRESSIONS, ast.YieldFrom)
def yield_from(machine: Machine, node: ast.YieldFrom) -> Value:
    """A generator gives what another one gives."""
    machine.frame.yielded += machine.elements(machine.evaluate(node.value), node)
    return Value()


@entered(EXPRESSIONS, *STRINGS_OF_PARTS)
def formatted(machine: Machine, node: ast.JoinedStr) -> Value:
    """A text; what is in it may do something."""
    for each in node.values:
        inside = getattr(each, "value", None)  # of the parts that are no text
        if isinstance(inside, ast.expr) and not isinstance(inside, ast.Name | ast.Constant):
            machine.evaluate(inside)
    return Value(created=machine.site(node))
