"""A process that is watched: its lines, its passes and its optimizers' steps, as they are noted."""

from collections.abc import Callable
from dataclasses import dataclass

from gradsan.facts.location import Frame
from gradsan.observe.attention import Attention
from gradsan.observe.callers import Apart, Callers
from gradsan.observe.log.journal import Journal
from gradsan.observe.log.lines import Lines
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.log.sites import Sites
from gradsan.observe.passes import Passes
from gradsan.observe.private import Private
from gradsan.observe.steps import Steps

NOTHING_RECORDED = Lines(Journal(Sites(), 0, ""), Sites(), "nothing was recorded")


@dataclass(frozen=True, slots=True)
class Process:
    """All that is noted of one."""

    recorder: LineRecorder
    passes: Passes
    steps: Steps
    is_detailed: bool = False  # what a page shows is recorded too

    @property
    def owns(self) -> Callable[[str], bool]:
        """Says of a file whether it is the user's."""
        return self.recorder.ownership.owns

    @property
    def lines(self) -> Lines:
        """The log of this thread; an empty one where no line of the user's was recorded in it."""
        return self.recorder.lines() or NOTHING_RECORDED

    def stack_of(self, number: int) -> tuple[Frame, ...]:
        """The user's calls when an op was created; empty where that is not known."""
        return self.lines.stack_of(number) or ()


def noted(
    recorder: LineRecorder, found: Private, attention: Attention, apart: Apart, *, is_detailed: bool = False
) -> Process | None:
    """Begin to note what goes by; None where this torch does not show all of it."""
    counter, running_pass = found.op_counter, found.running_pass
    if counter is None or running_pass is None or not found.can_be_watched:
        return None
    recorder.start()
    callers = Callers(recorder, apart)
    passes = Passes(callers, counter, running_pass, attention.tape, recorder.pen.threads, apart)
    return Process(recorder, passes, Steps(callers, passes, attention, apart), is_detailed)
