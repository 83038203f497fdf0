"""Whether a value is of a kind, as `isinstance` asks."""

from gradsan.check.values import Class, Const, Instance, Layer, Library, Mapping, Sequence, Tensor, Value

_NO_TENSORS = frozenset("Number Real int float str bool list tuple dict".split())
_TENSORS = ("Tensor", "Variable")
_NUMBERS = ("float", "int", "Number", "Real")
_SEQUENCES = ("Sequence", "Iterable", "Collection")
_MAPPINGS = ("dict", "Mapping", "OrderedDict", "MutableMapping")


def is_a(value: Value, kind: Value) -> bool | None:
    """Whether a value is of a kind; None: not known."""
    if isinstance(kind, Class):
        return _is_instance(value, kind)
    name = kind.path.rsplit(".", 1)[-1] if isinstance(kind, Library) else ""
    if value.op is not None and name in _NO_TENSORS:
        return False
    if type(value) is Value and value.op is not None and name in _TENSORS:
        return True  # what is one op is taken for a tensor everywhere
    match value:
        case Tensor(plain="number"):
            return name in _NUMBERS
        case Tensor(plain=None):
            return name in _TENSORS or (name == "Parameter" and value.leaf is not None)
        case Sequence(kind=own):
            return name == own or name in _SEQUENCES
        case Mapping():
            return name in _MAPPINGS
        case Const(value=known):
            return name == type(known).__name__ or (name in ("Number", "Real") and isinstance(known, int | float))
        case Layer(kind=own, assumed=False):
            return name in (own, "Module")
    return None


def _is_instance(value: Value, kind: Class) -> bool | None:
    """Whether a value is an object of a class of the user's; None: not known."""
    if not isinstance(value, Instance):
        return False if isinstance(value, Const | Sequence | Mapping | Tensor) else None
    return _derives(value.cls, kind)


def _derives(cls: Class, kind: Class) -> bool:
    return cls is kind or any(_derives(base, kind) for base in cls.bases if isinstance(base, Class))
