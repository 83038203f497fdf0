"""A program's life, as far as autograd is concerned: what was created, walked, edited, stepped and held, in order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gradsan.facts.location import Location
from gradsan.lifecycle.ops import Leaf, Op, Port


@dataclass(frozen=True, slots=True)
class Pass:
    """One call of `backward` or `autograd.grad`."""

    id: int
    roots: tuple[Port | None, ...]  # None: a tensor without history
    inputs: tuple[Port | None, ...] | None = None  # None: not given, so every leaf; in it, None: needs no gradient
    retain_graph: bool | None = None  # None: not given
    create_graph: bool = False
    accumulates: bool = True  # False: `autograd.grad`, which returns gradients and leaves `.grad` alone
    allows_unused: bool = True  # False: `autograd.grad` raises where an input receives nothing
    site: Location | None = None

    @property
    def retains(self) -> bool:
        """Whether the ops it walks keep their saved values. `create_graph` implies it unless told otherwise."""
        return self.create_graph if self.retain_graph is None else self.retain_graph


@dataclass(frozen=True, slots=True)
class Created:
    """An op was built."""

    op: Op
    origin: int | None = None  # the op of which it is a repetition
    # PyTorch numbers an op before it looks at the op's inputs, and looking at an outdated view makes an op: such an op
    # is there first, and numbered after the op that is created next.
    late: bool = False


@dataclass(frozen=True, slots=True)
class Walked:
    """A pass was asked for."""

    asked: Pass


@dataclass(frozen=True, slots=True)
class Edited:
    """A tensor was changed in place, and its version counter went up."""

    counter: int
    site: Location | None = None


@dataclass(frozen=True, slots=True)
class Stepped:
    """An optimizer changed those of its leaves that have a gradient, in place."""

    optimizer: str
    leaves: tuple[int, ...]
    site: Location | None = None


@dataclass(frozen=True, slots=True)
class Cleared:
    """`zero_grad`, or `p.grad = None` by hand."""

    leaves: tuple[int, ...]
    to_none: bool = True  # False: the gradients stay, as zeros
    site: Location | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """From here on `holder` keeps exactly these ops alive; none of them: it lets go.

    A holder is a name, or an op: an op saves the tensor itself, and an edit in place gives that tensor another history.
    It may even lead to the op that holds it; then PyTorch's count of references never falls to zero.
    """

    holder: str | int
    ops: tuple[int, ...] = ()


Event = Created | Walked | Edited | Stepped | Cleared | Held


@dataclass(frozen=True, slots=True)
class Life:
    """All that happened to a program's graphs, as plain facts."""

    leaves: tuple[Leaf, ...]
    storages: Mapping[int, int]  # storage → bytes
    events: tuple[Event, ...]

    def made(self) -> Iterator[Op]:
        """Every op, in order of creation."""
        return (event.op for event in self.events if isinstance(event, Created))

    def numbered(self) -> Iterator[Op]:
        """Every op, in the order of PyTorch's creation numbers."""
        late: list[Op] = []
        for event in self.events:
            if isinstance(event, Created) and event.late:
                late.append(event.op)
            elif isinstance(event, Created):
                yield from (event.op, *late)
                late.clear()

    def passes(self) -> Iterator[Pass]:
        """Every pass, in order."""
        return (event.asked for event in self.events if isinstance(event, Walked))
