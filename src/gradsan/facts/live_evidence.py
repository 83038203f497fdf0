"""What only a running program can say of where its source is to be fixed, as plain values."""

from dataclasses import dataclass
from typing import Literal

from gradsan.facts.culprit import Culprit
from gradsan.facts.held import Held
from gradsan.facts.incident import OpFact

# How a fix may be built on what was tried: assign what was dropped, treat the other half, use what is unused.
Attempt = Literal[
    "dropped-detach", "half-detached", "part-detached", "loop-variable", "detached-copy", "unused-forward", "emptied"
]


@dataclass(frozen=True, slots=True)
class Tried:
    """What the user has done already, and why it does not help."""

    sentence: str
    what: Attempt | None = None  # None: no fix can be built on it
    file: str = ""
    line: int = 0
    name: str = ""  # what a fix built on it would treat, as that line would write it


@dataclass(frozen=True, slots=True)
class Access:
    """How a live function would write a name of another one."""

    written: str  # `model.layers[0].h` for a layer's `self.h`
    function: str  # the one that would write it so
    beside: tuple[str, ...] = ()  # the same of other objects of the class, where that has a graph too
    is_partial: bool = False  # the run has more such objects than that function can name

    @property
    def every(self) -> list[str]:
        """The same of all objects that have it."""
        return [self.written, *self.beside]


@dataclass(frozen=True, slots=True)
class Alive:
    """What a name means in the running program."""

    held: Held | None = None  # None: no live function has it
    access: Access | None = None  # None: no live function can write it


@dataclass(frozen=True, slots=True)
class Crossed:
    """An edge over which a failing pass leaves its own iteration, with what carried the old part over it."""

    made: OpFact
    enters: OpFact
    culprit: Culprit | None  # None: not found
    is_alike: bool  # created as what the explanation is about was: once before the loop, or iteration by iteration
    alive: Alive = Alive()


@dataclass(frozen=True, slots=True)
class GraphLine:
    """A line of the user's, in any call, that took part in creating the freed part."""

    file: str
    line: int
    ops: int  # how many of its ops


@dataclass(frozen=True, slots=True)
class TrainedName:
    """A variable of a live function that holds something trained."""

    function: str
    name: str


@dataclass(frozen=True, slots=True)
class LiveEvidence:
    """All that was read from the live program when a pass had failed.

    It is no part of a report: whoever makes edits is given it beside the diagnosis.
    """

    alive: Alive = Alive()  # of the name that the explanation is about
    freeing_places: int | None = None  # that asked for passes which freed what is needed; None: nothing was freed
    graph_lines: tuple[GraphLine, ...] = ()
    is_one_call: bool = False  # one run of a statement asked for both passes: the loop between them is a library's
    trained_names: tuple[TrainedName, ...] = ()
    crossings: tuple[Crossed, ...] | None = None  # beside the one that the explanation is about; None: not looked for
    tried: tuple[Tried, ...] = ()


NOTHING_READ = LiveEvidence()
