"""Built-in functions and the standard library, as far as they ask for objects, make records or copy them."""

from collections.abc import Callable
from dataclasses import replace

from gradsan.check.graph import Leaf
from gradsan.check.machine import Call, Machine
from gradsan.check.slots import attribute_name
from gradsan.check.tables import BUILTINS, entered
from gradsan.check.values import (
    NONE,
    Class,
    Const,
    Factory,
    Instance,
    Layer,
    Library,
    Mapping,
    Partial,
    Sequence,
    Tensor,
    Value,
    escape,
)

_TENSORS = ("Tensor", "Variable")
_PARAMETERS = (*_TENSORS, "Parameter")
_NUMBERS = ("float", "int", "Number", "Real")
_SEQUENCES = ("Sequence", "Iterable", "Collection")
_MAPPINGS = ("dict", "Mapping", "OrderedDict", "MutableMapping")
COPIES: dict[type[Value], Callable[..., Value]] = {}  # (value, known)


@entered(BUILTINS, "isinstance")
def _isinstance(machine: Machine, call: Call) -> Value:
    match call.values:
        case [value, Sequence(elements=kinds)]:
            outcomes = [_is_a(value, each) for each in kinds]
        case [value, kind]:
            outcomes = [_is_a(value, kind)]
        case _:
            return Value()
    if True in outcomes:
        return Const(value=True)
    return Value() if None in outcomes else Const(value=False)


@entered(BUILTINS, "getattr")
def _getattr(machine: Machine, call: Call) -> Value:
    name = attribute_name(machine, call.arguments[1]) if len(call.arguments) > 1 else None
    match call.values:
        case [owner, Const(), *_] if name is not None:
            return machine.attribute(owner, name, call.node)
        case [owner, *_] if name in owner.attributes:
            return owner.attributes[name]
    return Value()


@entered(BUILTINS, "hasattr")
def _hasattr(machine: Machine, call: Call) -> Value:
    match call.values:
        case [Instance() as owner, Const(value=str() as name)] if _has(owner, name):
            return Const(value=True)
    return Value()


@entered(BUILTINS, "setattr")
def _setattr(machine: Machine, call: Call) -> Value:
    name = attribute_name(machine, call.arguments[1]) if len(call.arguments) > 1 else None
    match call.values:
        case [owner, _, value] if name is not None:
            owner.attributes[name] = value
            escape(value)
    return NONE


@entered(BUILTINS, "vars")
def _vars(machine: Machine, call: Call) -> Value:
    return machine.attribute(call.first, "__dict__", call.node) if call.arguments else Value()


def _has(owner: Instance, name: str) -> bool:
    return name in owner.attributes or owner.cls.member(name) is not None


@entered(BUILTINS, "partial")
def _partial(machine: Machine, call: Call) -> Value:
    if not call.arguments:
        return Value()
    function, *given = call.values
    named = {key: value for key, (value, _) in call.keywords.items()}
    return Partial(function=function, arguments=given, keywords=named)


@entered(BUILTINS, "namedtuple")
def _namedtuple(machine: Machine, call: Call) -> Value:
    fields: list[str] = []
    match call.values:
        case [_, Sequence(elements=elements), *_]:
            fields = [str(each.value) for each in elements if isinstance(each, Const)]
        case [_, Const(value=str() as text), *_]:
            fields = text.replace(",", " ").split()
    return Class(fields=tuple(fields), plain=True, bases=(Library(path="typing.NamedTuple"),))


@entered(BUILTINS, "deepcopy")
def _deepcopy(machine: Machine, call: Call) -> Value:
    return _deep_copy(call.first, {})


@entered(BUILTINS, "replace")
def _replace(machine: Machine, call: Call) -> Value:
    value, changed = call.first, {key: each for key, (each, _) in call.keywords.items()}
    return replace(value, attributes=value.attributes | changed) if isinstance(value, Instance) else value


@entered(BUILTINS, "field")
def _field(machine: Machine, call: Call) -> Value:
    factory = call.keyword("default_factory") or Value()
    return call.keyword("default") or Factory(function=factory)


@entered(BUILTINS, "super")
def _super(machine: Machine, call: Call) -> Value:
    return Library(path="builtins.super")


def _is_a(value: Value, kind: Value) -> bool | None:
    """Whether a value is of a kind; None: not known."""
    if isinstance(kind, Class):
        return _is_instance(value, kind)
    name = kind.path.rpartition(".")[2] if isinstance(kind, Library) else ""
    names = _names_of(value)
    return None if names is None else name in names


def _names_of(value: Value) -> tuple[str, ...] | None:
    """The names of the kinds that a value is of; None: not known."""
    match value:
        case Tensor(plain="number"):
            return _NUMBERS
        case Tensor(plain=None, leaf=leaf):
            return _TENSORS if leaf is None else _PARAMETERS
        case Sequence(kind=own):
            return own, *_SEQUENCES
        case Mapping():
            return _MAPPINGS
        case Const(value=int() | float() as known):
            return type(known).__name__, "Number", "Real"
        case Const(value=known):
            return (type(known).__name__,)
    return None


def _is_instance(value: Value, kind: Class) -> bool | None:
    """Whether a value is an object of a class of the user's; None: not known."""
    if not isinstance(value, Instance):
        return False if isinstance(value, Const | Sequence | Mapping | Tensor) else None
    return kind in value.cls.lineage()


def _deep_copy(value: Value, known: dict[int, Value]) -> Value:
    """Another object, down to its parameters; `known`: what was copied already."""
    if id(value) not in known:
        handler = COPIES.get(type(value))
        known[id(value)] = value if handler is None else handler(value, known)
    return known[id(value)]


@entered(COPIES, Layer)
def _layer(value: Layer, known: dict[int, Value]) -> Value:
    layer = known[id(value)] = Layer(kind=value.kind, leaf=_leaf(value), label=value.label, assumed=value.assumed)
    layer.children = [(name, _deep_copy(child, known)) for name, child in value.children]
    return layer


@entered(COPIES, Instance)
def _instance(value: Instance, known: dict[int, Value]) -> Value:
    created = Instance(cls=value.cls, label=value.label, hooks=list(value.hooks), compiled=value.compiled)
    known[id(value)] = created
    created.attributes = {name: _deep_copy(each, known) for name, each in value.attributes.items()}
    return created


@entered(COPIES, Tensor)
def _tensor(value: Tensor, known: dict[int, Value]) -> Value:
    return value if value.leaf is None else Tensor(leaf=_leaf(value))


def _leaf(value: Value) -> Leaf | None:
    leaf = value.leaf
    return None if leaf is None else Leaf(leaf.name, leaf.module, requires=leaf.requires, assumed=leaf.assumed)
