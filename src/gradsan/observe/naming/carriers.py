"""The name through which a freed graph survived: five questions, in this order, until one is answered.

1. On the path that the value took, which variable was stored before the graph was freed, and read after it?
2. Which object did one statement call both times, so that the second call gave back what the first had created?
3. What does one statement call and hand on at once, so that no variable ever held it?
4. Which live holder of the very op does a line read on which the graph enters again?
5. Which is the only live holder of it that outlasts a call?

The first three are asked of the lines that ran, the others of the live objects.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType

from gradsan.facts.culprit import Named
from gradsan.facts.incident import OpFact, Stack
from gradsan.facts.location import Frame
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.computed_names import concrete
from gradsan.observe.naming.dataflow import flow
from gradsan.observe.naming.demands import Binding
from gradsan.observe.naming.live_names import confirmed, only_lasting, read_live
from gradsan.observe.naming.living_tensors import held
from gradsan.observe.naming.survivors import boundary, survivor
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.naming.unheld import called_twice, handed_on
from gradsan.observe.user_statements import place_of
from gradsan.source.keyed_attributes import COMPUTED


@dataclass(frozen=True, slots=True)
class Crossing:
    """The edge over which a failing pass reaches what an earlier one freed."""

    created_number: int  # the newest freed op on this path
    enters_number: int | None  # the op of the later forward that builds on it; `None`: the failing root is freed
    enters: Stack  # the user's stack when that was created, outermost first; of the failing pass if there is none
    freed_number: int | None = None  # the op counter when the freeing pass ran: what survived was stored before it
    enters_op: str | None = None  # PyTorch's name of the op that builds on it

    @classmethod
    def between(cls, created: OpFact, enters: OpFact | None, failing: Stack, freed: int | None) -> "Crossing | None":
        """From one op to another, or from a failing pass to one; None: that has no number."""
        if created.number is None:
            return None
        if enters is None:
            return cls(created.number, None, failing, freed)
        return cls(created.number, enters.number, enters.stack, freed, enters.name)


def carrier(crossing: Crossing, frames: Sequence[FrameType], lines: Lines, owns: Callable[[str], bool]) -> Named | None:
    """The name of what carried the graph; `None` where no name is good enough. Certain: also seen live.

    `frames` are the live ones at the failure, the innermost first. Keeps none of them, and nothing found in them.
    """
    live = held(crossing.created_number, frames, owns)
    users = (each for each in frames if owns(each.f_code.co_filename))
    stack = list(reversed(crossing.enters)) or [place_of(each) for each in users]
    binding = _of_lines(crossing, stack, lines)
    if binding is not None and COMPUTED in binding.name:
        binding = concrete(binding, crossing.created_number, crossing.freed_number, frames, lines, owns)
    if binding is not None:
        return confirmed(binding, live, stack)
    return read_live(live, stack) or only_lasting(live)


def _of_lines(crossing: Crossing, stack: Sequence[Frame], lines: Lines) -> Binding | None:
    """Questions 1 to 3."""
    created, enters = crossing.created_number, crossing.enters_number
    trace = Trace(lines, created, enters, (created,) if enters is None else (created, enters))
    creators = trace.at.get(created, ())
    entering = trace.at.get(-1 if enters is None else enters) or _failing(trace, stack)
    if not creators or not entering:
        return None
    path = flow(trace, creators, entering, crossing.enters_op)
    if path is None:
        return called_twice(creators, entering) or handed_on(creators, entering)
    return survivor(path, boundary(trace, path, crossing.freed_number))


def _failing(trace: Trace, stack: Sequence[Frame]) -> tuple[Execution, ...]:
    """What was running when the pass failed. The log may have gone on since."""
    found = (trace.last_at(each) for each in stack)
    return next((execution.stack for execution in found if execution is not None), ())
