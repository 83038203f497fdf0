"""What a path may come upon, and what is noted on the path for the time when it has ended."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from gradsan.check.graph import (
    Cut,
    Label,
    Leaf,
    LoopRun,
    Moment,
    Op,
    Pass,
    Site,
    Storage,
    tick,
)
from gradsan.check.values import Optimizer
from gradsan.check.walking import Reached, path_to


@dataclass(frozen=True, slots=True)
class SecondWalk:
    """A pass reached an op that an earlier one had freed."""

    failing: Pass
    freeing: Pass
    op: Op
    found: dict[Op, Reached]
    freed: frozenset[Op]  # those of them that were freed when it began
    doubt: int
    checkpointed: bool = False


@dataclass(frozen=True, slots=True)
class OldValue:
    """A pass reached an op whose saved value was edited since."""

    failing: Pass
    op: Op
    storage: Storage
    edited: Site | None  # where, before this pass: others may have written into it since
    by: str | None  # the optimizer whose step it was
    found: dict[Op, Reached]
    doubt: int


@dataclass(frozen=True, slots=True)
class NoGraph:
    """A pass was asked for on a value that has lost its graph."""

    failing: Pass
    cut: Cut
    name: str | None


@dataclass(frozen=True, slots=True)
class Piled:
    """A step used gradients that an earlier step had used already."""

    optimizer: Optimizer
    stepped: Site
    source: Pass
    moment: Moment


@dataclass(frozen=True, slots=True)
class Mixed:
    """A step took gradients that two passes had given to one parameter, and another optimizer stepped in between."""

    optimizer: Optimizer
    stepped: Site
    left: Pass
    own: Pass


@dataclass(frozen=True, slots=True)
class Regrown:
    """A pass walked ops of an earlier iteration that an earlier pass had walked."""

    later: Pass
    earlier: Pass
    op: Op
    found: dict[Op, Reached]
    doubt: int

    @property
    def label(self) -> Label | None:
        """The name that leads to them."""
        return next(filter(None, (self.found[op].label for op in path_to(self.op, self.found))), None)


@dataclass(frozen=True, slots=True)
class ReadFreed:
    """Saved values were read after a pass had freed them."""

    site: Site
    freeing: Pass
    name: str | None


@dataclass(frozen=True, slots=True)
class KeptDonated:
    """A pass is to keep the graph of a compiled function whose backward gives its buffers away."""

    failing: Pass
    doubt: int


@dataclass(frozen=True, slots=True)
class Misfit:
    """A method of a tensor's is called on what is none, or on what may be none: the program would raise there."""

    file: str
    line: int
    call: str  # as it is written: `state.detach`
    sure: bool  # False: nobody knows what it is called on


Trouble = SecondWalk | OldValue | NoGraph | ReadFreed | KeptDonated


@dataclass(frozen=True, slots=True)
class Exchange:
    """A part of a model was replaced by another one."""

    old: frozenset[Leaf]
    new: frozenset[Leaf]
    site: Site
    edits: int  # of the new one, until then
    owner: str | None = None  # the class of the user's whose object it is a part of
    is_parameter: bool = False  # and no layer
    number: int = field(default_factory=tick)


def edits_of(leaves: Iterable[Leaf]) -> int:
    """How often they were changed in place."""
    return sum(leaf.storage.version for leaf in leaves)


@dataclass(slots=True, eq=False)
class Rebinding:
    """A value that a loop gave a name in one of its iterations."""

    name: str
    op: Op
    site: Site


@dataclass(slots=True, eq=False)
class Dropped:
    """A term that a statement computes and drops."""

    name: str
    op: Op
    node: ast.AST


@dataclass(slots=True, eq=False)
class Collecting:
    """A list, a total or a mapping that a loop feeds with values that have a graph."""

    name: str
    holder: Label
    site: Site
    op: Op
    run: LoopRun
    ops: list[Op] = field(default_factory=list)
    total: bool = False
