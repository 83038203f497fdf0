"""What leads a pass into the graphs of earlier steps: the edge out of this step, and the name that crosses it."""

from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from gradsan.facts.course import Carried
from gradsan.facts.incident import Stack
from gradsan.observe.graph import Node, reach, roots_of
from gradsan.observe.log.frames import frames_out
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.names import Crossing, carrier
from gradsan.observe.private import NO_NUMBER


def carried_by(
    tensors: Sequence[Any], since: int, frame: FrameType, lines: Lines, owns: Callable[[str], bool]
) -> Carried | None:
    """The way out of this step, which began when the op counter stood at `since`; None where there is none."""
    edge = _newest_edge(reach(roots_of(tensors)), since)
    return None if edge is None else carried_over(edge[1], edge[0], frame, lines, owns)


def carried_over(made: int, enters: int | None, frame: FrameType, lines: Lines, owns: Callable[[str], bool]) -> Carried:
    """The name that leads from op `enters` to the older op `made`; None: the pass was asked for that one itself."""
    crossing = Crossing(
        made_number=made,
        enters_number=enters,
        made=_stack(lines, made),
        enters=() if enters is None else _stack(lines, enters),
    )
    found = carrier(crossing, frames_out(frame), lines, owns=owns)
    return Carried(
        name=None if found is None else found.name,
        holder=None if found is None else found.holder,
        certain=found is not None and found.confidence == "certain",
        made=crossing.made,
        enters=crossing.enters,
    )


def round_begins(lines: Lines, frame: FrameType, since: int) -> int:
    """The op counter when the present iteration began, of the loop that goes round once a pass.

    The pass before was at `since`. What a round makes after its pass (an average, say) belongs to that round, and is
    carried into the next.
    """
    starts = (loop.start_of(loop.now) for loop in lines.rounds(frame))
    return min((each for each in starts if each is not None and each >= since), default=since)


def _newest_edge(below: dict[Node, tuple[Node, ...]], since: int) -> tuple[int, int] | None:
    """The creation numbers of an op of this step and of the older one that it builds on."""
    edges = (
        (node._sequence_nr(), inner._sequence_nr())  # noqa: SLF001 # creation_number() costs a call more
        for node, following in below.items()
        for inner in following
    )
    crossing = ((outer, inner) for outer, inner in edges if inner < since <= outer != NO_NUMBER)
    return max(crossing, key=lambda each: (each[1], -each[0]), default=None)


def _stack(lines: Lines, number: int) -> Stack:
    return lines.stack_of(number) or ()
