"""The name through which a value was reached, as the user would write it, looked up from the inside out."""

import ast

from gradsan.check.frames import Frame
from gradsan.check.graph import Label, Op
from gradsan.check.values import Const, Instance, Mapping, Sequence, Value, ops_of

_LONGEST = 40  # characters of an expression that still reads as a name


def label_of(  # noqa: C901 # one branch for each kind of expression
    expression: ast.expr, frame: Frame, op: Op
) -> Label | None:
    """The name in this expression that holds the op; for an argument, what the caller passed."""
    match expression:
        case ast.Name(name):
            return _of_name(name, frame, op)
        case ast.Attribute():
            value = peek(expression, frame)
            if value is not None and op in ops_of(value):
                return Label(ast.unparse(expression), "attribute")
            return label_of(expression.value, frame, op)
        case ast.Subscript():
            inner = label_of(expression.value, frame, op)
            text = ast.unparse(expression)
            if inner is None or inner.holder in ("argument", "item") or len(text) > _LONGEST:
                return inner
            if _is_given(expression.value, frame):  # the caller has a name for the whole, and none for the item
                return inner
            return inner if _is_tensor(peek(expression.value, frame)) else Label(text, "item")
        case ast.Tuple(elements) | ast.List(elements):
            return _first(elements, frame, op)
        case ast.Starred(value):
            return label_of(value, frame, op)
        case ast.Call():
            receiver = [expression.func.value] if isinstance(expression.func, ast.Attribute) else []
            return _first([*receiver, *expression.args, *(each.value for each in expression.keywords)], frame, op)
        case ast.BinOp(left, _, right):
            return _first([left, right], frame, op)
        case ast.UnaryOp(_, operand):
            return label_of(operand, frame, op)
        case ast.IfExp(_, body, orelse):
            return _first([body, orelse], frame, op)
    return None


def _is_given(expression: ast.expr, frame: Frame) -> bool:
    """Whether it is an argument of the function, or a part of one."""
    while isinstance(expression, ast.Attribute | ast.Subscript):
        expression = expression.value
    return isinstance(expression, ast.Name) and expression.id in frame.given and frame.caller is not None


def peek(expression: ast.expr, frame: Frame) -> Value | None:
    """The value of a name, an attribute or an item, without doing anything."""
    match expression:
        case ast.Name(name):
            home = frame.home_of(name)
            return None if home is None else home.names.get(name)
        case ast.Attribute(value, name):
            owner = peek(value, frame)
            return None if owner is None else owner.attributes.get(name)
        case ast.Subscript(value, index):
            return _item(peek(value, frame), index, frame)
    return None


def _item(owner: Value | None, index: ast.expr, frame: Frame) -> Value | None:
    at: object = index.value if isinstance(index, ast.Constant) else None
    if at is None and isinstance(known := peek(index, frame), Const):
        at = known.value
    match owner:
        case Mapping(entries=entries):
            return entries.get(at) if isinstance(at, str | int | bool) else None
        case Sequence(elements=elements) if isinstance(at, int) and -len(elements) <= at < len(elements):
            return elements[at]
    return owner


def _is_tensor(value: Value | None) -> bool:
    return value is None or not isinstance(value, Sequence | Mapping)


def _of_name(name: str, frame: Frame, op: Op) -> Label | None:
    home = frame.home_of(name)
    held = None if home is None else home.names.get(name)
    if home is None or held is None or op not in ops_of(held):
        return None
    if isinstance(held, Instance):
        inner = next((key for key, each in held.attributes.items() if op in ops_of(each)), None)
        return None if inner is None else Label(f"{name}.{inner}", "attribute")
    if home is frame and name in frame.given and frame.caller is not None:
        outer = label_of(frame.given[name], frame.caller, op)
        return outer or Label(name, "argument")
    if home.outer is None and home.function is None:
        return Label(name, "local" if home is frame else "global")
    return Label(name, "local" if home is frame else "closure")


def _first(expressions: list[ast.expr], frame: Frame, op: Op) -> Label | None:
    for each in expressions:
        found = label_of(each, frame, op)
        if found is not None:
            return found
    return None
