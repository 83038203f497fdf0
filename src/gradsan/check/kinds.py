"""Whether a value is of a kind, as `isinstance` asks."""

from gradsan.check.values import Class, Const, Instance, Layer, Library, Mapping, Sequence, Tensor, Value

_NO_TENSORS = frozenset("Number Real int float str bool list tuple dict".split())
_TENSORS = ("Tensor", "Variable")
_PARAMETERS = (*_TENSORS, "Parameter")
_NUMBERS = ("float", "int", "Number", "Real")
_SEQUENCES = ("Sequence", "Iterable", "Collection")
_MAPPINGS = ("dict", "Mapping", "OrderedDict", "MutableMapping")


def is_a(value: Value, kind: Value) -> bool | None:
    """Whether a value is of a kind; None: not known."""
    if isinstance(kind, Class):
        return _is_instance(value, kind)
    name = kind.path.rpartition(".")[2] if isinstance(kind, Library) else ""
    if value.op is not None and name in _NO_TENSORS:
        return False
    names = _names_of(value)
    if names is None and value.op is not None and name in _TENSORS:
        return True  # what is one op is taken for a tensor everywhere
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
        case Layer(kind=own, assumed=False):
            return own, "Module"
    return None


def _is_instance(value: Value, kind: Class) -> bool | None:
    """Whether a value is an object of a class of the user's; None: not known."""
    if not isinstance(value, Instance):
        return False if isinstance(value, Const | Sequence | Mapping | Tensor) else None
    return kind in value.cls.lineage()
