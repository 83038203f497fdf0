"""Lines whose passes walk more and more: what leads them out of their steps is named once."""

from itertools import pairwise
from types import FrameType

from gradsan.observe.ledger.carrying import carried_by
from gradsan.observe.ledger.followed_run import Run
from gradsan.observe.ledger.passlines import Asked, Line
from gradsan.observe.log.lines import Lines

_SHOW_GROWTH = 3  # passes


class Growth:
    """Of a process."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def pass_begins(self, asked: Asked) -> None:
        """Of a line whose passes walk more and more."""
        if not asked.note.seen or asked.line.carried is not None:
            return
        if _grows(asked.line):
            self._run.budget.spend(lambda: self._name(asked))
        elif _may_begin_to_grow(asked.line):  # have the next one walked, too
            self._run.process.passes.look_at_next(asked.note.site)

    def _name(self, asked: Asked) -> None:
        process = self._run.process
        since = _iteration_begins(process.lines, asked.frame, asked.note.since)
        asked.line.carried = carried_by(asked.tensors, since, asked.frame, process)


def _grows(line: Line) -> bool:
    walks = [*line.walks, *line.latest][-_SHOW_GROWTH:]
    is_back = all(each.back > 1 for each in walks[1:])
    return len(walks) == _SHOW_GROWTH and is_back and all(one.ops < two.ops for one, two in pairwise(walks))


def _may_begin_to_grow(line: Line) -> bool:
    """Whether the latest pass of which a snapshot was taken reaches further back than all before it."""
    *earlier, last = [*line.walks, *line.latest]
    return bool(earlier) and last.back > max(1, *(each.back for each in earlier))


def _iteration_begins(lines: Lines, frame: FrameType, since: int) -> int:
    """The op counter when the present iteration began, of the loop that runs once a pass.

    The pass before was at `since`. What an iteration creates after its pass (an average, say) belongs to that
    iteration, and is carried into the next.
    """
    starts = (loop.start_of(loop.now) for loop in lines.iterations(frame))
    return min((each for each in starts if each is not None and each >= since), default=since)
