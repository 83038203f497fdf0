"""What is asked while a value is followed back: the value of an expression, or of a part of it, in an execution."""

import ast
from dataclasses import dataclass
from typing import Literal

from gradsan.observe.naming.trace import Execution
from gradsan.source.unpacking import Path

Kind = Literal["local", "argument", "attribute", "closure", "global"]


@dataclass(frozen=True, slots=True)
class Binding:
    """A variable through which the value went: what was stored, and the read that found it."""

    name: str
    kind: Kind
    written: Execution
    read: Execution
    by_object: bool  # a variable nearer the entering statement holds it, inside an object


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """The value of `node`, or the part of it at `path`, in an execution."""

    node: ast.expr
    path: Path
    at: Execution
    cost: float = 0.0
    before: "Demand | None" = None
    binding: Binding | None = None  # the variable through which one came here
    is_within: bool = False  # held inside an object that is no plain container
    is_last: bool = False  # the op was created by re-arranging this: its variable is the end of the path

    def bindings(self) -> list[Binding]:
        """The variables on the path here, from the entering statement on."""
        found: list[Binding] = []
        demand: Demand | None = self
        while demand is not None:
            if demand.binding is not None:
                found.append(demand.binding)
            demand = demand.before
        return found[::-1]
