"""What a name may stand for while a program is read."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from gradsan.check.graph import Cut, Leaf, Op, Site, Storage

if TYPE_CHECKING:
    from gradsan.check.frames import Frame
    from gradsan.source.file import Source


Plain = Literal["number", "other"]

_NO_FUNCTION = ast.Lambda(args=ast.arguments([], [], None, [], [], None, []), body=ast.Constant(None))
_NO_CLASS = ast.ClassDef("?", [], [], [], [])


_MOST_ELEMENTS = 1_000  # that are kept of a list


@dataclass(slots=True, eq=False)
class Value:
    """Something that nothing is known of, except what it may have been built on."""

    op: Op | None = None
    label: str | None = None  # the name under which it came into the program
    attributes: dict[str, "Value"] = field(default_factory=dict)
    made: Site | None = None
    opaque: bool = False  # it came out of a call that could not be followed, or was made of such things
    items: dict[object, "Value"] = field(default_factory=dict)  # parts that were looked at
    of: "Value | None" = None  # whose `.grad`, `.data` or `.grad_fn` it is
    layer: "Layer | None" = None  # what it is where it behaves as a module does
    optimizer: "Optimizer | None" = None  # what it is where it behaves as an optimizer does


@dataclass(slots=True, eq=False)
class Tensor(Value):
    """A tensor, with a graph (`op` or `leaf`) or without."""

    leaf: Leaf | None = None
    cut: Cut | None = None  # it had a graph, and lost it here
    storage: Storage = field(default_factory=Storage)
    plain: Plain | None = None  # what it is where it is no tensor any more: `loss.item()`

    @property
    def differentiable(self) -> bool:
        """Whether what is built on it has a graph."""
        return self.op is not None or (self.leaf is not None and self.leaf.requires)

    @property
    def memory(self) -> Storage:
        """Its storage: that of the parameter, where it is one."""
        return self.storage if self.leaf is None else self.leaf.storage


@dataclass(slots=True, eq=False)
class Const(Value):
    """A number, a string, a truth value, None."""

    value: object = None


@dataclass(slots=True, eq=False)
class Index(Value):
    """The number of a iteration: known to be the first or a later one, and nothing else."""

    position: int = 0


@dataclass(slots=True, eq=False)
class Sequence(Value):
    """A list, tuple, set or deque."""

    elements: list[Value] = field(default_factory=list)
    exact: bool = True  # False: it has more elements, like the last ones
    kind: str = "list"
    longest: int | None = None  # of a deque
    born: object = None  # the loops that ran when it was made
    made_for: list[tuple[Op, ...]] = field(default_factory=list)  # of a generator: the ops made for each element

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


@dataclass(slots=True, eq=False)
class Library(Value):
    """A name of a library, as it is imported: `torch.nn.functional`."""

    path: str = ""
    file: str | None = None  # where it is a file of the user's


@dataclass(slots=True, eq=False)
class Imported(Value):
    """A name of another file, which is read once somebody uses the name."""

    importer: str = ""
    module: str = ""
    level: int = 0
    name: str = ""


@dataclass(slots=True, eq=False)
class Function(Value):
    """A function of the user's."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda = field(default_factory=lambda: _NO_FUNCTION)
    source: "Source | None" = None
    outer: "Frame | None" = None
    owner: "Class | None" = None
    decorators: tuple[str, ...] = ()
    defaults: dict[str, Value] = field(default_factory=dict)
    remembered: dict[object, Value] | None = None  # of an `lru_cache`

    @property
    def is_property(self) -> bool:
        """Whether reading it calls it."""
        return any(each.endswith(("property", "cached_property")) for each in self.decorators)


@dataclass(slots=True, eq=False)
class Method(Value):
    """A function with the object that it was taken from."""

    function: Value = field(default_factory=Value)
    receiver: Value = field(default_factory=Value)
    name: str = ""


@dataclass(slots=True, eq=False)
class Partial(Value):
    """`functools.partial`."""

    function: Value = field(default_factory=Value)
    arguments: list[Value] = field(default_factory=list)
    keywords: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Class(Value):
    """A class of the user's."""

    node: ast.ClassDef = field(default_factory=lambda: _NO_CLASS)
    source: "Source | None" = None
    bases: tuple[Value, ...] = ()
    members: dict[str, Value] = field(default_factory=dict)
    fields: tuple[str, ...] = ()  # of a dataclass or a named tuple
    plain: bool = False  # its constructor only fills the fields


@dataclass(slots=True, eq=False)
class Instance(Value):
    """An object of a class of the user's."""

    cls: Class = field(default_factory=Class)
    running: bool = False  # its forward is under way
    guessed: set[str] = field(default_factory=set)  # attributes that were read before anything was seen to set them
    given: list[Value] = field(default_factory=list)  # to a constructor that could not be followed
    base: Value | None = None  # the part of it that a class of a library makes up
    hooks: list[Value] = field(default_factory=list)  # that see what its forward returns
    compiled: bool = False


@dataclass(slots=True, eq=False)
class Layer(Value):
    """A module of torch.nn, or of another library."""

    kind: str = ""
    leaf: Leaf | None = None
    children: list[tuple[str, Value]] = field(default_factory=list)
    assumed: bool = False  # only its name says that it is a module
    hooks: list[Value] = field(default_factory=list)  # that see what it returns
    compiled: bool = False


@dataclass(slots=True, eq=False)
class Optimizer(Value):
    """An optimizer, and what it owns."""

    name: str = "optimizer"
    owned: list[Leaf] = field(default_factory=list)
    complete: bool = True  # False: it owns more than could be found out
    steps: int = 0


@dataclass(slots=True, eq=False)
class Factory(Value):
    """`field(default_factory=…)`: what is called for the default of a field."""

    function: Value = field(default_factory=Value)


@dataclass(slots=True, eq=False)
class Scaler(Value):
    """A `GradScaler`."""


@dataclass(slots=True, eq=False)
class Distribution(Value):
    """A distribution of torch, over parameters that may have a graph."""


@dataclass(slots=True, eq=False)
class Context(Value):
    """A context manager that switches the recording of graphs."""

    enables: bool | None = None  # None: it does not
    how: str = ""
    given: Value | None = None  # what `as` binds


NONE = Const(value=None)


_MOST_PARTS = 300


def parts(value: Value, depth: int = 6) -> Iterator[Value]:
    """The value and what it contains, each once; of something very large, the first few hundred."""
    seen = {id(value)}
    waiting = [(value, depth)]
    while waiting and len(seen) < _MOST_PARTS:
        current, left = waiting.pop()
        yield current
        for each in _inner(current) if left > 0 else ():
            if id(each) not in seen:
                seen.add(id(each))
                waiting.append((each, left - (2 if isinstance(current, Instance) else 1)))


def _inner(value: Value) -> Iterable[Value]:
    match value:
        case Sequence(elements=elements):
            return reversed(elements)
        case Mapping(entries=entries):
            return reversed(entries.values())
        case Layer(children=children):
            return [child for _, child in children]
        case Instance(attributes=attributes):
            held = [each for each in attributes.values() if not isinstance(each, Method | Function | Class)]
            return [*held, *value.given] if value.given else held
    return ()


def key_of(value: Value) -> object:
    """What stands for a value as a key or in a comparison; an unknown one is equal to itself alone.

    The value itself stands for it then, and not its `id`: a key has to live as long as the table that it is in.
    """
    match value:
        case Const(value=known):
            return known
        case Index(position=position):
            return ("iteration", position)
        case Sequence(kind="tuple", exact=True):
            return tuple(map(key_of, value.elements))
    return value


def ops_of(value: Value) -> list[Op]:
    """The ops that a value leads to, each once."""
    if value.op is not None:
        return [value.op]
    if isinstance(value, Sequence | Mapping | Instance):
        return list(dict.fromkeys(each.op for each in parts(value) if each.op is not None))
    return []


def has_graph(value: Value) -> bool:
    """Whether what is built on it has a graph."""
    return bool(ops_of(value)) or (isinstance(value, Tensor) and value.differentiable)


def is_scalar(value: Value) -> bool:
    """Whether it is one number as far as can be told: a loss, a Python number, or something without a graph."""
    return not has_graph(value) if value.op is None else value.op.scalar


def is_true(value: Value | None) -> bool:
    """Whether it is known to count as true."""
    return isinstance(value, Const) and bool(value.value)


def is_false(value: Value | None) -> bool:
    """Whether it is known to count as false."""
    return isinstance(value, Const) and not value.value


def is_exact(value: Value | None) -> bool:
    """Whether it is a container of which all elements are known."""
    return isinstance(value, Sequence | Mapping) and value.exact


def leaves_of(value: Value, seen: set[int] | None = None) -> list[Leaf]:
    """All parameters in a value: a tensor, a module, a list of either."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return []
    seen.add(id(value))
    match value:
        case Tensor(leaf=Leaf() as leaf):
            return [leaf]
        case Layer():
            own = [value.leaf] if value.leaf is not None else []
            return own + [leaf for _, child in value.children for leaf in leaves_of(child, seen)]
        case Sequence():
            return [leaf for each in value.elements for leaf in leaves_of(each, seen)]
        case Mapping():
            return [leaf for each in value.entries.values() for leaf in leaves_of(each, seen)]
        case Instance():
            return [leaf for each in value.attributes.values() for leaf in _module_leaves(each, seen)]
    return []


def _module_leaves(value: Value, seen: set[int]) -> list[Leaf]:
    """What a module registers of an attribute: parameters and modules, not tensors in lists."""
    match value:
        case Tensor(leaf=Leaf(), op=None) | Layer():
            return leaves_of(value, seen)
        case Instance() if is_module(value.cls):
            return leaves_of(value, seen)
    return []


def is_module(cls: Class, depth: int = 8) -> bool:
    """Whether a class is a torch module, as far as its bases are known."""
    return any(is_module_base(base, depth) for base in cls.bases)


def is_module_base(base: Value, depth: int = 8) -> bool:
    """Whether a base class makes a module of whatever derives from it."""
    if isinstance(base, Class):
        return depth > 0 and is_module(base, depth - 1)
    path = base.path if isinstance(base, Library) else (base.label or "")
    last = path.rsplit(".", 1)[-1]
    return path.startswith("torch.nn") or last.endswith(("Module", "PreTrainedModel"))


def member(cls: Class, name: str, depth: int = 8) -> Value | None:
    """What a class or one of its bases defines under this name."""
    found = cls.members.get(name)
    if found is not None or depth == 0:
        return found
    for base in cls.bases:
        if isinstance(base, Class):
            found = member(base, name, depth - 1)
            if found is not None:
                return found
    return None


def foreign_bases(cls: Class, depth: int = 8) -> Iterator[str]:
    """The bases that are not known, by name."""
    for base in cls.bases:
        if isinstance(base, Class):
            if depth:
                yield from foreign_bases(base, depth - 1)
        else:
            yield (base.path if isinstance(base, Library) else base.label) or "?"
