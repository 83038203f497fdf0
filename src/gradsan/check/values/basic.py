"""Something that a name may stand for, and the plainest kinds of it: tensors, constants, the number of an iteration."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from gradsan.check.graph import Cut, Leaf, Moment, Op, Site, Storage

if TYPE_CHECKING:
    from gradsan.check.values.objects import Layer, Optimizer


Plain = Literal["number", "other"]


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
    part: str | None = None  # of a layer's parameters, which share one leaf: "weight" or "bias"
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
        return self.leaf is not None and self.leaf.registers and self.op is None


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
    onwards: bool = False  # it stands for all iterations that come after it, too

    @property
    def truth(self) -> bool | None:
        """The first is 0."""
        return bool(self.position)


NONE = Const(value=None)
