"""The name through which a freed graph survived: five questions, in this order, until one is answered.

1. On the path that the value took, which variable was stored before the graph was freed, and read after it?
2. Which object did one statement call both times, so that the second call gave back what the first had created?
3. What does one statement call and hand on at once, so that no variable ever held it?
4. Which live holder of the very op does a line read on which the graph enters again?
5. Which is the only live holder of it that outlasts a call?

The first three are asked of the lines that ran, the others of the live objects.
"""

from collections.abc import Callable, Sequence
from types import FrameType

from gradsan.facts.culprit import Named
from gradsan.observe.log.lines import Lines
from gradsan.observe.naming.computed_names import concrete
from gradsan.observe.naming.line_names import Crossing, crossed_by
from gradsan.observe.naming.live_names import confirmed, only_lasting, read_live
from gradsan.observe.naming.living_tensors import held
from gradsan.observe.user_statements import place_of


def carrier(crossing: Crossing, frames: Sequence[FrameType], lines: Lines, owns: Callable[[str], bool]) -> Named | None:
    """The name of what carried the graph; `None` where no name is good enough. Certain: also seen live.

    `frames` are the live ones at the failure, the innermost first. Keeps none of them, and nothing found in them.
    """
    live = held(crossing.created_number, frames, owns)
    users = (each for each in frames if owns(each.f_code.co_filename))
    stack = list(reversed(crossing.enters)) or [place_of(each) for each in users]
    binding = crossed_by(crossing, stack, lines)
    if binding is not None:
        return confirmed(concrete(binding, crossing, frames, lines, owns), live, stack)
    return read_live(live, stack) or only_lasting(live)
