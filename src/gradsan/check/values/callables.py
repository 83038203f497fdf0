"""What can be called: functions and classes, the user's and those of libraries."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from gradsan.check.values.basic import Value
from gradsan.source.imported import Import

if TYPE_CHECKING:
    from gradsan.check.call_frames import Frame
    from gradsan.source.file import Source


_NO_FUNCTION = ast.Lambda(args=ast.arguments([], [], None, [], [], None, []), body=ast.Constant(None))


_NO_CLASS = ast.ClassDef("?", [], [], [], [])


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
class Factory(Value):
    """`field(default_factory=…)`: what is called for the default of a field."""

    function: Value = field(default_factory=Value)
