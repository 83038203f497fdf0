"""A row about a library: what one of its calls does to graphs, gradients, parameters or containers."""

from dataclasses import dataclass
from typing import Literal

Effect = Literal[
    "walks",  # asks for a backward pass
    "steps",  # changes parameters by their gradients
    "clears",  # takes gradients away
    "limits",  # changes gradients in place
    "edits",  # changes its object's tensors in place
    "stops recording",  # as a context or a decorator
    "records",
    "switches recording",  # on or off, as its argument says
    "wraps",  # gives back what it was given, with something around it
    "compiles",
    "checkpoints",  # runs what it is given once more in the backward pass
    "caches",  # gives back what it gave before
    "draws",  # from a distribution, without a graph
    "can draw with a graph",  # it is a distribution that has `rsample`
    "optimizes",  # creates an optimizer
    "lists parameters",
    "loads data",
    "converts",  # gives a number that was a tensor's value
    "tells",  # shows or counts something, and keeps nothing
    "operates",  # does with tensors what the operation of that name does, and keeps their graph
    "collects",  # gives a container of what it was given
    "stores",  # puts an argument into its object, as an item
    "spreads",  # puts what is in its argument into its object
    "takes",  # gives an item of its object
    "shrinks",  # takes something out of its object
]


@dataclass(frozen=True, slots=True)
class Call:
    """One row. `path` begins with the library; with `?` where any object's method of that name is meant."""

    path: str
    effects: tuple[Effect, ...]

    @property
    def library(self) -> str:
        """What has to be installed for this to be run."""
        return self.path.partition(".")[0]

    @property
    def name(self) -> str:
        """The last part, which is all that a reader sees where the object is not known."""
        return self.path.rpartition(".")[2]


def calls(*effects: Effect, of: str, names: str) -> tuple[Call, ...]:
    """Rows for several names of one module or class that do the same."""
    return tuple(Call(f"{of}.{name}", effects) for name in names.split())
