"""What leads a pass into the graphs of earlier steps: the edge out of this step, and the name that crosses it."""

from collections.abc import Sequence
from itertools import pairwise
from types import FrameType
from typing import Any

from gradsan.facts.course import Carried
from gradsan.observe.graph import Node, reach, roots_of
from gradsan.observe.ledger.passlines import Asked, Line
from gradsan.observe.ledger.run import Run
from gradsan.observe.log.frames import frames_out
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.names import Crossing, carrier
from gradsan.observe.private import NO_NUMBER
from gradsan.observe.process import Process

_SHOW_GROWTH = 3  # passes


class Carriers:
    """Names what leads the passes of a line out of their steps, once their graphs are seen to grow."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def pass_begins(self, asked: Asked) -> None:
        """Of a line whose passes walk more and more."""
        if asked.note.seen and asked.line.carried is None and _grows(asked.line):
            self._run.budget.spend(lambda: self._name(asked))

    def _name(self, asked: Asked) -> None:
        process = self._run.process
        since = iteration_begins(process.lines, asked.frame, asked.note.since)
        asked.line.carried = carried_by(asked.tensors, since, asked.frame, process)


def _grows(line: Line) -> bool:
    walks = [*line.walks, *line.latest][-_SHOW_GROWTH:]
    is_back = all(each.back > 1 for each in walks[1:])
    return len(walks) == _SHOW_GROWTH and is_back and all(one.ops < two.ops for one, two in pairwise(walks))


def carried_by(tensors: Sequence[Any], since: int, frame: FrameType, process: Process) -> Carried | None:
    """The path out of this step, which began when the op counter stood at `since`; None where there is none."""
    edge = _newest_edge(reach(roots_of(tensors)), since)
    return None if edge is None else carried_over(edge[1], edge[0], frame, process)


def carried_over(made: int, enters: int | None, frame: FrameType, process: Process) -> Carried:
    """The name that leads from op `enters` to the older op `made`; None: the pass was asked for that one itself."""
    entering = () if enters is None else process.stack_of(enters)
    found = carrier(Crossing(made, enters, entering), frames_out(frame), process.lines, process.owns)
    stacks = (process.stack_of(made), entering)
    if found is None:
        return Carried(None, None, False, *stacks)  # noqa: FBT003 # as declared
    return Carried(found.culprit.name, found.culprit.holder, found.certain, *stacks)


def iteration_begins(lines: Lines, frame: FrameType, since: int) -> int:
    """The op counter when the present iteration began, of the loop that runs once a pass.

    The pass before was at `since`. What an iteration creates after its pass (an average, say) belongs to that
    iteration, and is carried into the next.
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
