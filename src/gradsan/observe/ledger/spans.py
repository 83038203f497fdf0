"""The ops that a statement created, and whether a pass walks one of them."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice

from gradsan.observe.log.journal import OPEN_END
from gradsan.observe.naming.trace import Execution, Trace


def end_of(execution: Execution, trace: Trace) -> int:
    """The op counter when what followed a statement began, the functions that it called left aside."""
    after = islice(trace.executions, execution.index + 1, None)
    return next((each.number for each in after if execution not in each.outwards), OPEN_END)


def meets(walked: Sequence[int] | None, start: int, stop: int) -> bool:
    """Whether ranges of creation numbers hold one from `start` up to, but not including, `stop`."""
    if not walked or stop <= start:
        return False
    place = bisect_right(walked, start)
    return place % 2 == 1 or (place < len(walked) and walked[place] < stop)
