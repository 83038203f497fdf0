"""What the lines that ran show of a name: the variable through which a value got from one op to another."""

from collections.abc import Sequence
from dataclasses import dataclass

from gradsan.facts.incident import OpFact, Stack
from gradsan.facts.location import Frame
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.dataflow import flow
from gradsan.observe.naming.demands import Binding
from gradsan.observe.naming.survivors import survivor
from gradsan.observe.naming.trace import Execution, Trace
from gradsan.observe.naming.unheld import called_twice, handed_on


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


def crossed_by(crossing: Crossing, stack: Sequence[Frame], lines: Lines) -> Binding | None:
    """Questions 1 to 3 of `carriers.py`."""
    created, enters = crossing.created_number, crossing.enters_number
    trace = Trace(lines, created, enters, (created,) if enters is None else (created, enters))
    creators = trace.at.get(created, ())
    entering = trace.at.get(-1 if enters is None else enters) or _failing(trace, stack)
    if not creators or not entering:
        return None
    path = flow(trace, creators, entering, crossing.enters_op)
    if path is None:
        return called_twice(creators, entering) or handed_on(creators, entering)
    return survivor(trace, path, crossing.freed_number)


def _failing(trace: Trace, stack: Sequence[Frame]) -> tuple[Execution, ...]:
    """What was running when the pass failed. The log may have gone on since."""
    found = (trace.last_at(each) for each in stack)
    return next((execution.stack for execution in found if execution is not None), ())
