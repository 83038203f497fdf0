"""The parts of a graph: ops, the leaves that collect gradients, and the values that ops save."""

from dataclasses import dataclass
from typing import NamedTuple

from gradsan.facts.location import Location


class Port(NamedTuple):
    """Where gradients arrive: a leaf, or one output of an op. A tensor's history is a port."""

    node: int
    output: int = 0


@dataclass(frozen=True, slots=True)
class Saved:
    """A value an op keeps for its backward, in the version it has when the op is created."""

    storage: int
    counter: int | None = None  # None: the storage's own; `x.data` shares the storage but counts edits apart
    needed_for: int | None = None  # the input whose gradient alone needs it; None: any
    written: bool = False  # saved only after the op's own write in place

    @property
    def edits(self) -> int:
        """The counter that says whether the value was edited since."""
        return self.storage if self.counter is None else self.counter


@dataclass(frozen=True, slots=True)
class Op:
    """One node of the graph: what PyTorch calls a `grad_fn`."""

    id: int
    name: str  # PyTorch's name, "MulBackward0"
    inputs: tuple[Port | None, ...]  # where its gradients flow to; None: that input needs none
    saves: tuple[Saved, ...] = ()
    # Raises when it is walked again although it saved no tensor: CopySlices (an in-place write through a view) gives up
    # the function inside it, and a custom Function that reads `ctx.saved_tensors` finds them gone even if it had none.
    gives_up_more: bool = False
    keeps: tuple[int, ...] = ()  # the ops that its saved tensors keep alive, until it is freed
    outputs: int = 1
    result: int | None = None  # the storage of its output
    made: Location | None = None

    @property
    def below(self) -> tuple[int, ...]:
        """The nodes that its gradients flow to, once for every edge."""
        return tuple(each.node for each in self.inputs if each is not None)

    @property
    def once(self) -> bool:
        """Whether a pass that does not retain consumes it: walking it again raises."""
        return bool(self.saves) or self.gives_up_more


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor that a program made with `requires_grad=True`, a parameter for example; passes add to its gradient."""

    id: int
    name: str
    storage: int
    counter: int | None = None  # as in `Saved`

    @property
    def edits(self) -> int:
        """The counter that an optimizer's step raises."""
        return self.storage if self.counter is None else self.counter
