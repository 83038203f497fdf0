"""What a name may stand for while a program is read."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from gradsan.check.graph import Cut, Leaf, Moment, Op, Site, Storage
from gradsan.source.imported import Import

if TYPE_CHECKING:
    from gradsan.check.call_frames import Frame
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
    created: Site | None = None
    leaf: Leaf | None = None  # of a tensor that is a parameter, or of a layer
    cut: Cut | None = None  # it had a graph, and lost it here
    opaque: bool = False  # it came out of a call that could not be followed, or of such things
    since: Moment | None = None  # when it did
    basis: tuple["Value", ...] = ()  # such things that it was made of: if it has a graph, so have they
    items: dict[object, "Value"] = field(default_factory=dict)  # parts that were asked for
    slot: object = None  # what it means as a key, once it was one, where nothing else is known of it
    of: "Value | None" = None  # whose `.grad`, `.data` or `.grad_fn` it is
    layer: "Layer | None" = None  # what it is where it behaves as a module does
    optimizer: "Optimizer | None" = None  # what it is where it behaves as an optimizer does

    is_true: ClassVar[bool] = False  # whatever is in it

    @property
    def truth(self) -> bool | None:
        """Whether it counts as true; None: not known."""
        return True if self.is_true else None

    @property
    def full_name(self) -> str:
        """What it is called, as far as is known."""
        return self.label or ""

    @property
    def contents(self) -> Iterable["Value"]:
        """What it contains."""
        return ()

    @property
    def registered(self) -> Iterable["Value"]:
        """In what of it parameters are looked for."""
        return self.contents

    @property
    def is_registered(self) -> bool:
        """Whether a module takes it in where it is set as an attribute: tensors in lists are not."""
        return False


@dataclass(slots=True, eq=False)
class Tensor(Value):
    """A tensor, with a graph (`op` or `leaf`) or without."""

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

    @property
    def is_registered(self) -> bool:
        """Parameters are."""
        return self.leaf is not None and self.op is None


@dataclass(slots=True, eq=False)
class Const(Value):
    """A number, a string, a truth value, None."""

    value: object = None

    @property
    def truth(self) -> bool | None:
        """As Python has it."""
        return bool(self.value)


@dataclass(slots=True, eq=False)
class Index(Value):
    """The number of an iteration: known to be the first or a later one, and nothing else."""

    position: int = 0

    @property
    def truth(self) -> bool | None:
        """The first is 0."""
        return bool(self.position)


@dataclass(slots=True, eq=False)
class Sequence(Value):
    """A list, tuple, set or deque."""

    elements: list[Value] = field(default_factory=list)
    exact: bool = True  # False: it has more elements, like the last ones
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


@dataclass(slots=True, eq=False)
class Library(Value):
    """A name of a library, as it is imported: `torch.nn.functional`."""

    path: str = ""
    file: str | None = None  # where it is a file of the user's

    @property
    def full_name(self) -> str:
        """As it is imported."""
        return self.path

    @property
    def truth(self) -> bool | None:
        """Modules and built-ins do; `os.environ` may be empty."""
        return True if "." not in self.path or self.path.startswith("builtins.") else None


@dataclass(slots=True, eq=False)
class Imported(Value):
    """A name of another file, which is read once somebody uses the name."""

    importer: str = ""
    what: Import = field(default_factory=lambda: Import("", ""))


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
    is_true: ClassVar[bool] = True

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
    is_true: ClassVar[bool] = True

    def lineage(self) -> Iterator["Class"]:
        """It, and the classes of the user's that it derives from."""
        yield self
        for base in self.bases:
            if isinstance(base, Class):
                yield from base.lineage()

    def foreign_bases(self) -> Iterator[str]:
        """The bases that are not the user's, by name."""
        for cls in self.lineage():
            yield from (base.full_name or "?" for base in cls.bases if not isinstance(base, Class))

    def member(self, name: str) -> Value | None:
        """What it or one of its bases defines under this name."""
        return next((cls.members[name] for cls in self.lineage() if name in cls.members), None)

    @property
    def has_foreign_base(self) -> bool:
        """Whether one of its bases is not the user's."""
        return next(self.foreign_bases(), None) is not None

    @property
    def is_module(self) -> bool:
        """Whether it is a torch module, as far as its bases are known."""
        bases = list(self.foreign_bases())
        return any(each.startswith("torch.nn") or each.endswith(("Module", "PreTrainedModel")) for each in bases)

    @property
    def is_optimizer(self) -> bool:
        """Whether it is an optimizer: what it does not define itself, it does as torch's do."""
        return any(each.startswith("torch.optim.") for each in self.foreign_bases())

    @property
    def is_named_tuple(self) -> bool:
        """Whether its objects are named tuples."""
        return any(each.endswith("NamedTuple") for each in self.foreign_bases())


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
    is_true: ClassVar[bool] = True

    @property
    def contents(self) -> Iterable[Value]:
        """Its attributes, without methods."""
        held = [each for each in self.attributes.values() if not isinstance(each, Method | Function | Class)]
        return [*held, *self.given]

    @property
    def registered(self) -> Iterable[Value]:
        """What a module takes in: parameters and modules."""
        return [each for each in self.attributes.values() if each.is_registered]

    @property
    def is_registered(self) -> bool:
        """Modules are."""
        return self.cls.is_module


@dataclass(slots=True, eq=False)
class Layer(Value):
    """A module of torch.nn, or of another library."""

    kind: str = ""
    children: list[tuple[str, Value]] = field(default_factory=list)
    assumed: bool = False  # only its name says that it is a module
    hooks: list[Value] = field(default_factory=list)  # that see what it returns
    compiled: bool = False
    is_true: ClassVar[bool] = True

    @property
    def contents(self) -> Iterable[Value]:
        """The modules inside."""
        return [child for _, child in self.children]

    @property
    def is_registered(self) -> bool:
        """Modules are."""
        return True


@dataclass(slots=True, eq=False)
class Optimizer(Value):
    """An optimizer, and what it owns."""

    name: str = "optimizer"
    owned: list[Leaf] = field(default_factory=list)
    complete: bool = True  # False: it owns more than could be found out
    steps: int = 0
    is_true: ClassVar[bool] = True


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
        for each in reversed([*current.contents]) if left > 0 else ():
            if id(each) not in seen:
                seen.add(id(each))
                waiting.append((each, left - (2 if isinstance(current, Instance) else 1)))


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


def ops_of(value: Value) -> list[Op]:
    """The ops that a value leads to, each once."""
    if value.op is not None:
        return [value.op]
    if isinstance(value, Sequence | Mapping | Instance):
        return list(dict.fromkeys(each.op for each in parts(value) if each.op is not None))
    return []


def escape(value: Value) -> None:
    """Something that outlives the statement holds it, and with it what it was computed from."""
    waiting = ops_of(value)
    while waiting:
        op = waiting.pop()
        if not op.escaped:
            op.escaped = True
            waiting += [edge.op for edge in op.edges]


def has_graph(value: Value) -> bool:
    """Whether what is built on it has a graph."""
    return bool(ops_of(value)) or (isinstance(value, Tensor) and value.differentiable)


def is_scalar(value: Value) -> bool:
    """Whether it is one number as far as is known: a loss, a Python number, or something without a graph."""
    return not has_graph(value) if value.op is None else value.op.scalar


def is_true(value: Value | None) -> bool:
    """Whether it is known to count as true."""
    return isinstance(value, Const) and bool(value.value)


def is_false(value: Value | None) -> bool:
    """Whether it is known to count as false."""
    return isinstance(value, Const) and not value.value


def whole_number(value: Value | None) -> int | None:
    """The whole number that it is; None: it is none, or not known."""
    return value.value if isinstance(value, Const) and isinstance(value.value, int) else None


def is_exact(value: Value | None) -> bool:
    """Whether it is a container of which all elements are known."""
    return isinstance(value, Sequence | Mapping) and value.exact


def leaves_of(value: Value, seen: set[int] | None = None) -> list[Leaf]:
    """All parameters in a value: a tensor, a module, a list of either."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return []
    seen.add(id(value))
    own = [] if value.leaf is None else [value.leaf]
    return own + [leaf for each in value.registered for leaf in leaves_of(each, seen)]


def last_name(value: Value) -> str:
    """The last of the names that lead to it, in lower case."""
    return (value.label or "").rpartition(".")[2].lower()


def is_called(value: Value, words: Iterable[str]) -> bool:
    """Whether one of the words is in the last name that leads to it."""
    name = last_name(value)
    return any(word in name for word in words)
