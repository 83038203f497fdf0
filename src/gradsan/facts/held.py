"""What a name may hold, as far as an edit has to know: a tensor, a container of tensors, a number, None.

Both entry points fill it: a run from the live value, `check` from the values that it follows. In words it is "tensor",
"tuple of tensor", "record h c", "tensor or None", "list of (number or tensor)".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "tensor",
    "number",
    "None",
    "tuple",
    "list",
    "deque",
    "dict",
    "named tuple",
    "record",
    "frozen record",
    "something",
]
_RECORDS: tuple[Kind, ...] = ("frozen record", "record")


@dataclass(frozen=True, slots=True, order=True)
class Shape:
    """One form that a value takes; "something" where nobody knows which."""

    kind: Kind
    items: "Held | None" = None  # of a container: what each of its items may be
    fields: tuple[str, ...] = ()  # of a record: those of its attributes that are tensors

    def __str__(self) -> str:
        if self.kind in _RECORDS:
            return " ".join((self.kind, *self.fields))
        if self.items is None or (self.kind == "named tuple" and self.items == TENSOR):
            return self.kind
        if not self.items.shapes:
            return self.kind
        inner = f"({self.items})" if len(self.items.shapes) > 1 else str(self.items)
        return f"{self.kind} of {inner}"


@dataclass(frozen=True, slots=True, order=True)
class Held:
    """Every form that a value may take; none at all where it never gets one."""

    shapes: tuple[Shape, ...] = ()

    def __str__(self) -> str:
        return " or ".join(map(str, self.shapes))

    def __bool__(self) -> bool:
        return bool(self.shapes)

    @property
    def is_known(self) -> bool:
        """Whether every form is known, of the value and of its items."""
        return all(shape.kind != "something" and (shape.items is None or shape.items.is_known) for shape in self.shapes)

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor, and never anything else."""
        return self == TENSOR

    def may_be(self, *kinds: Kind) -> bool:
        """Whether one of its forms is one of these."""
        return any(shape.kind in kinds for shape in self.shapes)

    def is_always(self, kind: Kind) -> bool:
        """Whether each of its forms is this."""
        return bool(self.shapes) and all(shape.kind == kind for shape in self.shapes)

    def without(self, *kinds: Kind) -> "Held":
        """All other forms."""
        return Held(tuple(shape for shape in self.shapes if shape.kind not in kinds))

    def known_forms(self) -> "Held":
        """Those forms of which everything is known."""
        return Held(tuple(shape for shape in self.shapes if Held((shape,)).is_known))

    def __or__(self, other: "Held") -> "Held":
        """What is one or the other; containers of one kind become one, with the items of both."""
        joined: dict[tuple[Kind, tuple[str, ...]], Shape] = {}
        for shape in (*self.shapes, *other.shapes):
            key = shape.kind, shape.fields
            known = joined.get(key)
            if known is None or known.items is None or shape.items is None:
                joined[key] = known if known is not None and shape.items is None else shape
            else:
                joined[key] = Shape(shape.kind, known.items | shape.items, shape.fields)
        return Held(tuple(sorted(joined.values(), key=_order)))


def _order(shape: Shape) -> tuple[bool, str]:
    return shape.kind == "None", str(shape)  # "tensor or None"


TENSOR = Held((Shape("tensor"),))
NUMBER = Held((Shape("number"),))
NONE = Held((Shape("None"),))
SOMETHING = Held((Shape("something"),))
NOTHING = Held()


def any_of(several: Iterable[Held]) -> Held:
    """What is one of these."""
    found = NOTHING
    for each in several:
        found |= each
    return found


def container(kind: Kind, items: Iterable[Held]) -> Held:
    """A container of these items."""
    return Held((Shape(kind, any_of(items)),))


def record(fields: Iterable[str], *, frozen: bool = False) -> Held:
    """An object whose attributes of these names are tensors; of a frozen one, none can be set."""
    names = tuple(fields)
    return Held((Shape("frozen record" if frozen else "record", None, names),)) if names else SOMETHING
