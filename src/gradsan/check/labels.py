"""The name through which a value was reached, as the user would write it, looked up from the inside out."""

import ast
from collections.abc import Callable, Iterator

from gradsan.check.call_frames import Frame
from gradsan.check.graph import Label, Op
from gradsan.check.values import Const, Instance, Mapping, Sequence, Value, key_of, ops_of

_LONGEST = 40  # characters of an expression that still reads as a name
_WHOLE = ("argument", "item")  # what holds the item is named after the whole
# Where names are looked for in other expressions.
_PARTS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Tuple: ("elts",),
    ast.List: ("elts",),
    ast.Starred: ("value",),
    ast.keyword: ("value",),
    ast.Call: ("args", "keywords"),
    ast.BinOp: ("left", "right"),
    ast.UnaryOp: ("operand",),
    ast.IfExp: ("body", "orelse"),
}


def label_of(expression: ast.expr, frame: Frame, op: Op) -> Label | None:
    """The name in this expression that holds the op; for an argument, what the caller passed."""
    return _LABELS.get(type(expression), _of_parts)(expression, frame, op)


def _of_parts(expression: ast.expr, frame: Frame, op: Op) -> Label | None:
    """The first name in its parts that holds the op."""
    return next(filter(None, (label_of(each, frame, op) for each in _parts(expression))), None)


def _parts(expression: ast.expr) -> Iterator[ast.expr]:
    for name in _PARTS.get(type(expression), ()):
        part = getattr(expression, name)
        yield from part if isinstance(part, list) else [part]


def _of_call(expression: ast.Call, frame: Frame, op: Op) -> Label | None:
    """What a method is called on, or what a call is given."""
    receiver = label_of(expression.func.value, frame, op) if isinstance(expression.func, ast.Attribute) else None
    return receiver or _of_parts(expression, frame, op)


def _of_attribute(expression: ast.Attribute, frame: Frame, op: Op) -> Label | None:
    value = peek(expression, frame)
    if value is not None and op in ops_of(value):
        return Label(ast.unparse(expression), "attribute")
    return label_of(expression.value, frame, op)


def _of_item(expression: ast.Subscript, frame: Frame, op: Op) -> Label | None:
    """The item, where it is one of a container that has a name here; else the whole."""
    whole, text = label_of(expression.value, frame, op), ast.unparse(expression)
    is_container = isinstance(peek(expression.value, frame), Sequence | Mapping)
    if whole is None or not is_container or _is_given(expression.value, frame):
        return whole
    return whole if whole.holder in _WHOLE or len(text) > _LONGEST else Label(text, "item")


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
    at = Const(value=index.value) if isinstance(index, ast.Constant) else peek(index, frame)
    if not isinstance(owner, Sequence | Mapping) or not isinstance(at, Const):
        return owner if not isinstance(owner, Mapping) else None
    if isinstance(owner, Mapping):
        return owner.entries.get(key_of(at))
    position = owner.position(at)
    return owner if position is None else owner.elements[position]


def _of_name(expression: ast.Name, frame: Frame, op: Op) -> Label | None:
    name = expression.id
    home, held = frame.home_of(name), peek(expression, frame)
    if home is None or held is None or op not in ops_of(held):
        return None
    if isinstance(held, Instance):
        return _of_object(name, held, op)
    if home is not frame:
        return Label(name, "global" if home.is_module else "closure")
    if frame.caller is not None and name in frame.given:
        return label_of(frame.given[name], frame.caller, op) or Label(name, "argument")
    return Label(name, "local")


def _of_object(name: str, held: Instance, op: Op) -> Label | None:
    attributes = (key for key, each in held.attributes.items() if op in ops_of(each))
    return next((_of_key(name, each) for each in attributes), None)


def _of_key(name: str, key: str) -> Label:
    """An attribute; one whose name is computed is read as it was set (`slots.attribute_name`)."""
    words, computed, _ = key.rpartition("}")
    return Label(f"getattr({name}, {words[1:]})", "item") if computed else Label(f"{name}.{key}", "attribute")


_LABELS: dict[type[ast.expr], Callable[..., Label | None]] = {
    ast.Name: _of_name,
    ast.Attribute: _of_attribute,
    ast.Call: _of_call,
    ast.Subscript: _of_item,
}
