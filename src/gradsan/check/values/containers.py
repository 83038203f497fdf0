"""Lists, tuples and dicts, as far as their elements are known."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from gradsan.check.graph import Leaf, Op
from gradsan.check.values.basic import Const, Index, Tensor, Value

_MOST_ELEMENTS = 1_000  # that are kept of a list


@dataclass(slots=True, eq=False)
class Sequence(Value):
    """A list, tuple, set or deque."""

    elements: list[Value] = field(default_factory=list)
    exact: bool = True  # False: it has more elements, like the last ones
    length: int | None = None  # how many there are, where that is known and they are not
    kind: str = "list"
    longest: int | None = None  # of a deque
    born: object = None  # the loops that ran when it was created
    created_for: list[tuple[Op, ...]] = field(default_factory=list)  # of a generator: the ops created for each element

    @property
    def truth(self) -> bool | None:
        """Whether there is an element."""
        return bool(self.elements) or (False if self.exact else None)

    @property
    def contents(self) -> Iterable[Value]:
        """Its elements."""
        return self.elements

    def position(self, index: Value) -> int | None:
        """Where an index points to; None: not known, or nowhere."""
        at = index.position if isinstance(index, Index) else whole_number(index)
        return at if at is not None and -len(self.elements) <= at < len(self.elements) else None

    def __post_init__(self) -> None:
        self._shorten()

    def take(self, values: Iterable[Value]) -> None:
        """Grow at the end. Of something very large, the first elements are kept: a loop may double it thirty times."""
        self.elements += list(values)
        self._shorten()

    def _shorten(self) -> None:
        if len(self.elements) > _MOST_ELEMENTS:
            self.elements = self.elements[:_MOST_ELEMENTS]
            self.exact = False


@dataclass(slots=True, eq=False)
class Mapping(Value):
    """A dict."""

    entries: dict[object, Value] = field(default_factory=dict)
    exact: bool = True
    born: object = None
    missing: Value | None = None  # what a `defaultdict` makes

    @property
    def truth(self) -> bool | None:
        """Whether there is an entry."""
        return bool(self.entries) or (False if self.exact else None)

    @property
    def contents(self) -> Iterable[Value]:
        """What stands under its keys."""
        return self.entries.values()

    def entry(self, key: Value) -> Value | None:
        """What stands under a key; for one that is not known, what was written last, which is as good as any."""
        others = () if isinstance(key, Const) else reversed(self.entries.values())
        return self.entries.get(key_of(key)) or next(iter(others), None)


def key_of(value: Value) -> object:
    """What stands for a value as a key or in a comparison; an unknown one is equal to itself alone.

    The value itself stands for it then, and not its `id`: a key has to live as long as the table that it is in.
    """
    match value:
        case Const(value=known):
            return known
        case Index(position=position):
            return ("iteration", position)
        case Value(slot=slot) if slot is not None:
            return slot
        case Tensor(leaf=Leaf() as leaf, op=None):
            return leaf
        case Sequence(kind="tuple", exact=True):
            return tuple(map(key_of, value.elements))
    return value


def constant_of(key: object) -> Value:
    """What a key stands for: what it is where it is plain, and else what means the same slot again."""
    return Const(value=key) if isinstance(key, str | int | float) else Value(slot=key)


def entries_of(value: Value) -> dict[object, Value]:
    """The entries of a mapping; of anything else nothing is known."""
    return value.entries if isinstance(value, Mapping) else {}


def length_of(value: Value | None) -> int | None:
    """How many elements a container has; None: it is none, or that is not known."""
    match value:
        case Sequence(exact=False):
            return value.length
        case Sequence() | Mapping() if value.exact:
            return len(list(value.contents))
    return None


def is_exact(value: Value | None) -> bool:
    """Whether it is a container of which all elements are known."""
    return isinstance(value, Sequence | Mapping) and value.exact


def whole_number(value: Value | None) -> int | None:
    """The whole number that it is; None: it is none, or not known."""
    return value.value if isinstance(value, Const) and isinstance(value.value, int) else None
