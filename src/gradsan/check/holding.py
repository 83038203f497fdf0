"""What a value that is followed may be in a running program, and which of its methods it would not have."""

import ast
from collections import deque

from gradsan.check.definitions import decorator_names
from gradsan.check.values import (
    Class,
    Const,
    Index,
    Instance,
    Mapping,
    Sequence,
    Tensor,
    Value,
    has_foreign_base,
    is_module,
    is_named_tuple,
    member,
)
from gradsan.facts.held import (
    NONE,
    NUMBER,
    SOMETHING,
    TENSOR,
    Held,
    Kind,
    container,
    record,
)

_DEEPEST = 5
_SEQUENCES: dict[str, Kind] = {"tuple": "tuple", "list": "list", "deque": "deque"}
_PYTHON: dict[str, type] = {"tuple": tuple, "list": list, "set": set, "deque": deque}
# What the edits call: on anything that is no tensor, these raise.
OF_TENSORS = frozenset({"detach", "item", "clone", "requires_grad_"})


def held(value: Value, depth: int = _DEEPEST) -> Held:
    """Its form in a running program; something, where that is not known."""
    if depth == 0:
        return SOMETHING
    match value:
        case Tensor(plain=None):
            return TENSOR
        case Tensor(plain="number") | Index():
            return NUMBER
        case Const(value=None):
            return NONE
        case Const(value=known):
            return NUMBER if isinstance(known, int | float) else SOMETHING
        case Sequence(kind=kind, elements=elements) if kind in _SEQUENCES:
            return container(_SEQUENCES[kind], [held(each, depth - 1) for each in elements])
        case Mapping(missing=None, entries=entries):
            return container("dict", [held(each, depth - 1) for each in entries.values()])
        case Instance():
            return _object(value, depth)
    return SOMETHING


def _object(instance: Instance, depth: int) -> Held:
    """An object of a class of the user's: a named tuple, or one whose attributes are tensors."""
    if is_module(instance.cls):
        return SOMETHING
    if is_named_tuple(instance.cls):
        return container("named tuple", [held(fields, depth - 1) for fields in field_values(instance)])
    if has_foreign_base(instance.cls):
        return SOMETHING
    forms = {name: held(each, depth - 1) for name, each in instance.attributes.items()}
    tensors = [name for name, each in forms.items() if each.is_tensor]
    others = [each for each in forms.values() if not each.is_tensor and not each.without("number", "None", "something")]
    if len(others) + len(tensors) < len(forms):  # tensors inside of a field: a list, another object
        return SOMETHING
    history = [name for name in tensors if instance.attributes[name].op is not None]
    return record(history or tensors, frozen=_is_frozen(instance.cls))


def field_values(instance: Instance) -> list[Value]:
    """What the fields of a record or named tuple hold, in their order."""
    return [instance.attributes.get(name) or Value() for name in instance.cls.fields]


def _is_frozen(cls: Class) -> bool:
    """Whether the attributes of an object cannot be set: `@dataclass(frozen=True)`."""
    if any(each.rsplit(".", 1)[-1] == "frozen" for each in decorator_names(cls.node)):
        return True
    options = [each for one in cls.node.decorator_list if isinstance(one, ast.Call) for each in one.keywords]
    return any(each.arg == "frozen" and getattr(each.value, "value", False) for each in options)


def lacks(value: Value, name: str) -> bool | None:
    """Whether a running program would find no such method there; None where that is not known."""
    match value:
        case Tensor(plain="number") | Index():
            return not hasattr(0.0, name)
        case Tensor(plain="other"):
            return None
        case Const(value=known):
            return not hasattr(known, name)
        case Sequence(kind=kind):
            return not hasattr(_PYTHON[kind], name) if kind in _PYTHON else None
        case Mapping():
            return not hasattr(dict, name)
        case Instance(cls=cls):
            if has_foreign_base(cls) and not cls.plain:
                return None
            has_it = name in value.attributes or member(cls, name) or member(cls, "__getattr__")
            return not has_it and not name.startswith("_")
    return None if type(value) is Value else False
