"""A process that is watched: its lines, its passes and its optimizers' steps, as they are noted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gradsan.facts.location import Frame
from gradsan.observe.attention import Attention
from gradsan.observe.callers import Apart, Callers
from gradsan.observe.log.journal import Journal
from gradsan.observe.log.lines import Lines
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.log.sites import Sites
from gradsan.observe.notes import PassNote
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
    began: tuple[int, int] = (0, 0)  # in which thread it began to be noted, and its op counter then

    @property
    def owns(self) -> Callable[[str], bool]:
        """Says of a file whether it is the user's."""
        return self.recorder.ownership.owns

    @property
    def lines(self) -> Lines:
        """The log of this thread; an empty one where no line of the user's was recorded in it."""
        return self.recorder.lines() or NOTHING_RECORDED

    def since(self, thread: int) -> int:
        """The op counter of a thread when the process began to be noted; 0: it came later, or nobody knows."""
        where, number = self.began
        return number if thread == where else 0

    def followed_by(self, attention: Attention, apart: Apart, *, is_gapless: bool) -> "Process":
        """The same one, of which nothing is counted yet; where no pass went unnoted, those so far are earlier ones."""
        passes = self.passes
        earlier = passes.earlier_now() if is_gapless else []
        passes.leave()
        self.recorder.when_stopped.clear()  # of those that read the log so far
        return _noted(self.recorder, passes.counter, passes.running_pass, attention, apart, earlier, self.is_detailed)

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
    return _noted(recorder, counter, running_pass, attention, apart, (), is_detailed)


def _noted(  # two callers, in this file
    recorder: LineRecorder,
    counter: Callable[[], int],
    running_pass: Callable[[], int],
    attention: Attention,
    apart: Apart,
    earlier: Sequence[PassNote],
    is_detailed: bool,  # noqa: FBT001 # as above
) -> Process:
    callers = Callers(recorder, apart)
    threads = recorder.pen.threads
    passes = Passes(callers, counter, running_pass, attention.tape, threads, apart, earlier, attention.to_rest)
    return Process(recorder, passes, Steps(callers, passes, attention, apart), is_detailed, (passes.thread, counter()))
