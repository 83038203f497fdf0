"""What leads a pass into the graphs of earlier steps: the edge out of this step, and the name that crosses it."""

from collections.abc import Sequence
from types import FrameType
from typing import Any

from gradsan.facts.course import Carried
from gradsan.observe.graph import Node, reach, roots_of
from gradsan.observe.log.frames import frames_out
from gradsan.observe.naming.carriers import carrier
from gradsan.observe.naming.line_names import Crossing
from gradsan.observe.private import NO_NUMBER
from gradsan.observe.process import Process


def carried_by(tensors: Sequence[Any], since: int, frame: FrameType, process: Process) -> Carried | None:
    """The path out of this step, which began when the op counter stood at `since`; None where there is none."""
    edge = _newest_edge(reach(roots_of(tensors)), since)
    return None if edge is None else carried_over(edge[1], edge[0], frame, process)


def carried_over(created: int, enters: int | None, frame: FrameType, process: Process) -> Carried:
    """The name that leads from op `enters` to the older op `created`; None: the pass was asked for that one itself."""
    entering = () if enters is None else process.stack_of(enters)
    found = carrier(Crossing(created, enters, entering), frames_out(frame), process.lines, process.owns)
    stacks = (process.stack_of(created), entering)
    if found is None:
        return Carried(None, None, False, *stacks)  # noqa: FBT003 # as declared
    return Carried(found.culprit.name, found.culprit.holder, found.certain, *stacks)


def _newest_edge(below: dict[Node, tuple[Node, ...]], since: int) -> tuple[int, int] | None:
    """The creation numbers of an op of this step and of the older one that it builds on."""
    edges = (
        (node._sequence_nr(), inner._sequence_nr())  # noqa: SLF001 # creation_number() costs a call more
        for node, following in below.items()
        for inner in following
    )
    crossing = ((outer, inner) for outer, inner in edges if inner < since <= outer != NO_NUMBER)
    return max(crossing, key=lambda each: (each[1], -each[0]), default=None)
