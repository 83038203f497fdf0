"""When something happens: in which iterations of which loops, and what lies between two such moments."""

from typing import NamedTuple

from gradsan.check.graph import LoopRun, Moment


class Parting(NamedTuple):
    """The loop in whose iterations two moments part."""

    run: LoopRun
    then: int  # the iteration of the earlier moment
    now: int
    depth: int  # loops around it


def parting(earlier: Moment, later: Moment) -> Parting | None:
    """The loop that was running at both moments, and had come to another iteration by the later one."""
    for depth, ((run, then), (current, now)) in enumerate(zip(earlier, later, strict=False)):
        if run is not current:
            return None
        if then != now:
            return Parting(run, then, now, depth)
    return None


def is_of_earlier_iteration(created: Moment, now: Moment) -> bool:
    """Whether something was created in an earlier iteration of a loop that is running."""
    found = parting(created, now)
    return found is not None and found.then < found.now
