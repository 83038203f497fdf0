"""Objects: of the user's classes, of torch.nn, optimizers, contexts."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from gradsan.check.graph import Leaf
from gradsan.check.values.basic import Value
from gradsan.check.values.callables import Class, Function, Method

_OF_A_CLASS = (Method, Function, Class)


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
        held = [each for each in self.attributes.values() if not isinstance(each, _OF_A_CLASS)]
        return [*held, *self.given]

    @property
    def registered(self) -> Iterable[Value]:
        """What a module takes in: parameters and modules."""
        held = [*self.attributes.values(), *([] if self.base is None else [self.base])]
        return [each for each in held if each.is_registered]

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
