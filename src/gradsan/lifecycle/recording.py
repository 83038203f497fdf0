"""The last part of a life that was observed, up to a pass that failed, and where a fix would take hold of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gradsan.lifecycle.events import Life
from gradsan.lifecycle.life_edits import Edge


@dataclass(frozen=True, slots=True)
class Recording:
    """The graph of the failing pass as it came about. What is not part of that graph is not in it."""

    life: Life
    crossing: frozenset[Edge]  # where the later forward builds on what is old
    old: frozenset[int]  # the ops that lie behind
    earlier: frozenset[int]  # the passes that walked some of them
    failing: int  # the pass that raised
    begins: int  # the position at which the first op of the later forward is made
    owners: Mapping[int, frozenset[str]] = field(default_factory=dict)  # of every leaf: the optimizers that train it
    complete: bool = True  # False: some ops may have saved parameters that the life does not name
