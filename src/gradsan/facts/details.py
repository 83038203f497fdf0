"""What the page of a run shows besides its report: source around the places, graphs, and the course of the run.

It is recorded only where it is asked for, and all of it is numbers and names. Ops are kept as columns: the n-th entry
of each belongs to the n-th op, in the order of creation; leaves come last.
"""

from dataclasses import dataclass
from typing import Literal

from gradsan.facts.location import Frame

# How much there can be of it.
MOST_OPS = 50_000  # of one graph
MOST_GRAPHS = 4
MOST_EVENTS = 2_000
MOST_SAMPLES = 400
MOST_SOURCE = 200_000  # characters

OpCondition = Literal["live", "freed", "retained", "leaf", "unknown"]
EventKind = Literal["backward", "grad", "step", "zero_grad"]


@dataclass(frozen=True, slots=True)
class SourceText:
    """Lines of a file, as they stood when the program ran."""

    file: str
    first: int  # the number of the first line that is kept
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """The name by which the program holds what an op gives."""

    op: int  # its place in the columns
    name: str


@dataclass(frozen=True, slots=True)
class OpGraph:
    """The graph that a pass was to walk, and what else the program held then."""

    diagnosis: str | None  # the fingerprint of the error that it belongs to; None: of a pass that went well
    line: Frame | None  # which asked for the pass
    step: int  # from 1: the n-th pass of that line
    kinds: tuple[str, ...]  # PyTorch's names of ops, "MulBackward0"
    modules: tuple[str, ...]  # dotted names; for leaves, those of parameters
    shapes: tuple[str, ...]  # of what ops give
    frames: tuple[Frame, ...]
    stacks: tuple[tuple[int, ...], ...]  # places in `frames`, outermost first
    conditions: tuple[OpCondition, ...]
    # Columns. What is not known is -1.
    kind: tuple[int, ...]  # a place in `kinds`; and so on
    condition: tuple[int, ...]
    module: tuple[int, ...]
    shape: tuple[int, ...]
    stack: tuple[int, ...]
    created: tuple[int, ...]  # in which step, counted in passes of the same line
    saved_bytes: tuple[int, ...]  # about what the op has saved, or had before it was freed
    edges: tuple[int, ...]  # in pairs: from an op to one that its gradient flows to
    path: tuple[int, ...] = ()  # from the loss into the freed part
    labels: tuple[Label, ...] = ()
    left_out: int = 0  # ops that are not kept, for there are too many


@dataclass(frozen=True, slots=True)
class EventLine:
    """A line that asks for passes, steps an optimizer, or clears gradients."""

    place: Frame | None
    what: str  # as it is written: the loss, the optimizer; empty: not known


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """Something that happened once."""

    kind: EventKind
    line: int  # a place in `lines`
    nth: int  # from 1: the n-th time that this line did so; for `zero_grad`, of those that are known
    step: int  # how many optimizer steps were done before
    number: int | None = None  # from 0: which pass of the run; None: no pass, or not known
    created: int = 0  # ops that were created since the event before: the forward
    ops: int | None = None  # that the pass walked, as far as is known
    retains: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """What one holder keeps alive of all that is."""

    holder: int  # a place in `holders`
    ops: int
    saved_bytes: int  # about, of values that were not freed


@dataclass(frozen=True, slots=True)
class Sample:
    """What was alive when a pass began; each op is counted once, for the first of its holders."""

    number: int  # from 0: which pass of the run
    step: int  # how many optimizer steps were done before
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class RunTimeline:
    """A run from its first pass to its last."""

    passes: int
    steps: int
    lines: tuple[EventLine, ...]
    events: tuple[TimelineEvent, ...]  # in order
    left_out: int  # events that are not kept, between the first ones and the last
    holders: tuple[str, ...]  # `OWN` and `EARLIER` come first
    samples: tuple[Sample, ...]


# What is alive because the pass is about to walk it: created since the pass before, and before that.
OWN, EARLIER = "this step", "earlier steps, through the loss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """All of it."""

    version: Literal[1] = 1
    sources: tuple[SourceText, ...] = ()
    graphs: tuple[OpGraph, ...] = ()
    timeline: RunTimeline | None = None
