"""What a value that is followed may be in a running program, and which of its methods it would not have."""

import ast
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from gradsan.check.definitions import decorator_names
from gradsan.check.tables import entered
from gradsan.check.values import (
    Class,
    Const,
    Index,
    Instance,
    Mapping,
    Sequence,
    Tensor,
    Value,
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


HELD: dict[type[Value], Callable[..., Held]] = {}  # (value, depth)


def held(value: Value, depth: int = _DEEPEST) -> Held:
    """Its form in a running program; something, where that is not known."""
    handler = HELD.get(type(value)) if depth else None
    return SOMETHING if handler is None else handler(value, depth)


@entered(HELD, Tensor)
def _tensor(value: Tensor, depth: int) -> Held:
    return TENSOR if value.plain is None else NUMBER if value.plain == "number" else SOMETHING


@entered(HELD, Index)
def _number(value: Index, depth: int) -> Held:
    return NUMBER


@entered(HELD, Const)
def _constant(value: Const, depth: int) -> Held:
    if value.value is None:
        return NONE
    return NUMBER if isinstance(value.value, int | float) else SOMETHING


@entered(HELD, Sequence)
def _sequence(value: Sequence, depth: int) -> Held:
    kind = _SEQUENCES.get(value.kind)
    return SOMETHING if kind is None else _container(kind, value.elements, depth)


@entered(HELD, Mapping)
def _mapping(value: Mapping, depth: int) -> Held:
    return _container("dict", value.entries.values(), depth) if value.missing is None else SOMETHING


def _container(kind: Kind, values: Iterable[Value], depth: int) -> Held:
    return container(kind, [held(each, depth - 1) for each in values])


@entered(HELD, Instance)
def _object(instance: Instance, depth: int) -> Held:
    """An object of a class of the user's: a named tuple, or one whose attributes are tensors."""
    if instance.cls.is_named_tuple:
        return _container("named tuple", field_values(instance), depth)
    if instance.cls.is_module or instance.cls.has_foreign_base:
        return SOMETHING
    forms = {name: held(each, depth - 1) for name, each in instance.attributes.items()}
    tensors = [name for name, each in forms.items() if each.is_tensor]
    if any(form.without("number", "None", "something") for form in forms.values() if not form.is_tensor):
        return SOMETHING  # tensors inside of a field: a list, another object
    with_graph = [name for name in tensors if instance.attributes[name].op is not None]
    return record(with_graph or tensors, frozen=_is_frozen(instance.cls))


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
    if isinstance(value, Instance):
        return _object_lacks(value, name)
    if type(value) not in _STANDS_FOR:
        return None if type(value) is Value else False
    kind = _STANDS_FOR[type(value)](value)
    return None if kind is None else not hasattr(kind, name)


def _object_lacks(instance: Instance, name: str) -> bool | None:
    cls = instance.cls
    if cls.has_foreign_base and not cls.plain:
        return None
    has_it = name in instance.attributes or cls.member(name) or cls.member("__getattr__")
    return not has_it and not name.startswith("_")


class _AnyTensor:
    """It has all methods that are asked for."""

    detach = item = clone = requires_grad_ = None


# The class of which a value is an object in a running program; None: not known.
_PLAIN: dict[str | None, type] = {None: _AnyTensor, "number": float}
_STANDS_FOR: dict[type[Value], Callable[[Any], type | None]] = {
    Tensor: lambda value: _PLAIN.get(value.plain),
    Index: lambda _: float,
    Const: lambda value: type(value.value),
    Sequence: lambda value: _PYTHON.get(value.kind),
    Mapping: lambda _: dict,
}
