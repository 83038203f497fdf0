"""A row about torch: what one operation does to the graph, to memory and to what it is given."""

from dataclasses import dataclass
from typing import Literal

Graph = Literal[
    "keeps",  # what it gives has a graph if an operand has one
    "drops",  # it gives the same values without their graph: `detach`, `item`
    "ends",  # it gives values that have no derivative: `argmax`, `eq`, `long`
    "creates",  # it gives values that no operand has: `zeros`, `randn_like`
    "builds",  # it makes a tensor of numbers, lists or arrays; of tensors among them it takes the values
    "describes",  # it gives no values, but something about a tensor: `shape`, `dim`
]
Memory = Literal[
    "new",
    "copy",  # new, with the same values in another order or type, or in the same
    "shared",  # that of the first operand, seen otherwise
    "shared if possible",  # likewise; where that memory is in another order, a copy
    "itself if possible",  # the operand itself, where there is nothing to do
    "itself",
]
Returns = Literal["tensor", "tensors", "pair", "pair for a dimension", "triple", "number", "object"]
Linear = Literal[
    "adds",  # a sum of its operands, of their elements or of parts of them: f(a + b) = f(a) + f(b)
    "scales",  # multiplies or divides the elements of the first operand: likewise, with the others as they are
]


@dataclass(frozen=True, slots=True)
class Operation:
    """One row. `name` is that of a method, an attribute or a function of torch, or of an op in the graph.

    Operands are the arguments that can have a gradient, counted from 0; the object of a method is the first. Where an
    operation has several forms, as `max` with a dimension and without, a row says what holds for all of them.
    """

    name: str
    attribute: bool = False  # read, not called
    graph: Graph = "keeps"
    memory: Memory = "new"
    returns: Returns = "tensor"
    saves: bool = True  # a backward pass frees something at it
    inputs: tuple[int, ...] = ()  # operands that it saves
    factors: tuple[int, ...] = ()  # operands that it saves for the gradient of another one, and for nothing else
    saves_result: bool = False
    linear: Linear | None = None
    reduces: int = 0  # given that many arguments and no `dim`, it gives one number
    contracts: bool = False  # an element of the result takes a whole row of two operands, as of features and weights

    @property
    def cuts(self) -> bool:
        """Whether what it gives has no graph, though it comes from something that may have one."""
        return self.graph in ("drops", "ends")

    @property
    def views(self) -> bool:
        """Whether the result is the memory of the first operand, seen otherwise."""
        return self.memory in ("shared", "shared if possible")

    @property
    def shares(self) -> bool:
        """Whether an edit of the result may edit the first operand."""
        return self.memory not in ("new", "copy")

    @property
    def rearranges(self) -> bool:
        """Whether the result is the first operand, seen differently: in another shape, order, type or place."""
        return self.graph == "keeps" and self.memory != "new"

    @property
    def is_assumed(self) -> bool:
        """Whether there is no row, and this is what is assumed of an operation."""
        return self.name == "?"
