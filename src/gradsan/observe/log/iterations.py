"""In which iteration of which loop an op was created, and in which iteration the program is now."""

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum

from gradsan.facts.location import Frame
from gradsan.observe.log.activations import Activation, Track
from gradsan.observe.log.source_loops import Loop

BEFORE = 0  # the iteration of what was created before the first


class Repeats(Enum):
    """What goes round."""

    LOOP = "loop"  # a `for` or `while` of the user's
    CALLS = "calls"  # a function of the user's that one line calls again and again: a library's loop


@dataclass(frozen=True, slots=True)
class Iterations:
    """The iterations of one live loop since it was last entered."""

    kind: Repeats
    frame: Frame  # the live call it belongs to; its line is the loop's header, or the line that calls
    last_line: int  # of the loop's body; for calls the calling line
    depth: int  # index of that call among the live ones, the outermost being 0; -1: a library called in from outside
    now: int  # the present iteration, from 1; `BEFORE` while the header is evaluated for the first time
    entered: bool  # whether the entry was seen; otherwise iterations count from the start of recording
    ordinals: "array[int]"  # iterations whose beginning is known, from 1, rising; those of a thinned log are missing
    numbers: "array[int]"  # the op counter at each of these beginnings

    def iteration_of(self, number: int) -> int | None:
        """The iteration in which an op was created, `BEFORE` for before the first; `None` where the log was thinned."""
        index = bisect_right(self.numbers, number) - 1
        if index < 0:
            return BEFORE if self.entered and self.ordinals[:1] in (array("Q"), array("Q", [1])) else None
        following = self.ordinals[index + 1] if index + 1 < len(self.ordinals) else self.now + 1
        return self.ordinals[index] if following == self.ordinals[index] + 1 else None

    def start_of(self, ordinal: int) -> int | None:
        """The first op number that iteration could have made; `None` where the log was thinned or it never began."""
        index = bisect_right(self.ordinals, ordinal) - 1
        return self.numbers[index] if index >= 0 and self.ordinals[index] == ordinal else None


def iterations_of(stack: list[Activation]) -> tuple[Iterations, ...]:
    """The loops around each live line and the repeated calls between them, outermost first."""
    found: list[Iterations] = []
    for depth, (activation, callee) in enumerate(zip(stack, [*stack[1:], None], strict=True), start=-1):
        for loop in dict.fromkeys(loop for _, loops in sorted(activation.headers.items()) for loop in loops):
            track = activation.track_of(loop)
            if loop.holds(activation.line) and track is not None:
                found.append(_of_loop(activation, loop, track, depth))
        repeated = activation.repeated() if callee is None else [activation.calls_of(callee.code)]
        begun = None if callee is None else callee.begun
        found.extend(_of_calls(activation, calls, depth, begun) for calls in repeated if calls is not None)
    return tuple(found)


def _of_loop(activation: Activation, loop: Loop, track: Track, depth: int) -> Iterations:
    frame = _frame(activation, loop.header)
    iterations, entered = track.iterations, track.entered
    return Iterations(Repeats.LOOP, frame, loop.last, depth, iterations, entered, track.ordinals, track.numbers)


def _of_calls(activation: Activation, track: Track, depth: int, begun: int | None) -> Iterations:
    """`begun`: the op counter when the live call began. Coroutines take turns: others may have begun since."""
    frame = _frame(activation, activation.line)
    ordinals, numbers = track.ordinals, track.numbers
    last = len(numbers) if begun is None else bisect_right(numbers, begun)
    if 0 < last < len(numbers):
        ordinals, numbers = ordinals[:last], numbers[:last]
    now = ordinals[-1] if ordinals is not track.ordinals else track.iterations
    return Iterations(Repeats.CALLS, frame, activation.line, depth, now, track.entered, ordinals, numbers)


def _frame(activation: Activation, line: int) -> Frame:
    code = activation.code
    return Frame("", 0, "") if code is None else Frame(code.file, line, code.function)
